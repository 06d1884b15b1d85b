package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/measure"
)

// tuning is kernels/tuning.go.
type tuning struct {
	path   string
	names  []string         // of its constants, in their order
	values map[string]int64 // of them
}

// readTuning reads it in its package, which the constants may refer to. Instead of what
// it has, it is the source, if that is not nil.
func readTuning(directory string, source any) (*tuning, error) {
	t := &tuning{values: map[string]int64{}}
	var err error
	if t.path, err = filepath.Abs(filepath.Join(directory, "tuning.go")); err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(filepath.Dir(t.path), "*.go"))
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	set := token.NewFileSet()
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		var instead any
		if path == t.path {
			instead = source
		}
		file, err := parser.ParseFile(set, path, instead, 0)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
		if path == t.path {
			for _, spec := range constants(file) {
				for _, name := range spec.Names {
					t.names = append(t.names, name.Name)
				}
			}
		}
	}
	// Of the package the constants alone are wanted, whose types need nothing of others.
	ignoring := types.Config{Error: func(error) {}}
	checked, _ := ignoring.Check("kernels", set, files, nil)
	for _, name := range t.names {
		c, ok := checked.Scope().Lookup(name).(*types.Const)
		if !ok {
			return nil, fmt.Errorf("%s: %s: expected a constant", t.path, name)
		}
		value, exact := constant.Int64Val(constant.ToInt(c.Val()))
		if !exact {
			return nil, fmt.Errorf("%s: %s is %v: expected an integer", t.path, name, c.Val())
		}
		t.values[name] = value
	}
	return t, nil
}

// constants are the declarations of constants of a file.
func constants(file *ast.File) []*ast.ValueSpec {
	var list []*ast.ValueSpec
	for _, d := range file.Decls {
		if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.CONST {
			for _, spec := range d.Specs {
				list = append(list, spec.(*ast.ValueSpec))
			}
		}
	}
	return list
}

// with returns the file with another value for one constant.
func (t *tuning) with(name string, value int64) ([]byte, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, t.path, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, spec := range constants(file) {
		for i, n := range spec.Names {
			if n.Name == name && i < len(spec.Values) {
				spec.Values[i] = &ast.BasicLit{ValuePos: spec.Values[i].Pos(), Kind: token.INT, Value: strconv.FormatInt(value, 10)}
				var b strings.Builder
				err := format.Node(&b, set, file)
				return []byte(b.String()), err
			}
		}
	}
	return nil, fmt.Errorf("%s: no value of %s", t.path, name)
}

// build makes this program with another value for one constant, in a directory.
func (t *tuning) build(directory, name string, value int64) (program string, err error) {
	source, err := t.with(name, value)
	if err != nil {
		return "", err
	}
	program = filepath.Join(directory, fmt.Sprintf("%s-%d", name, value))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {t.path: program + ".go"}})
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(program+".go", source, 0o666), os.WriteFile(program+".json", overlay, 0o666)); err != nil {
		return "", err
	}
	arguments := []string{"build", "-overlay", program + ".json", "-o"}
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	arguments = append(arguments, program)
	for _, s := range buildSettings() {
		if s.Key == "-tags" {
			arguments = append(arguments, "-tags", s.Value)
		}
	}
	if message, err := exec.Command("go", append(arguments, ".")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s = %d: %w: %s", name, value, err, message)
	}
	return program, nil
}

// others are the values that are tried beside the present one.
func (t threshold) others(present int64) []int64 {
	var list []int64
	for _, f := range t.factors {
		if v := int64(float64(present) * f); v > 0 && v != present {
			list = append(list, v)
		}
	}
	return list
}

// selected are the thresholds of those names, or all.
func selected(names []string) ([]threshold, error) {
	if len(names) == 0 {
		return thresholds, nil
	}
	var list []threshold
	for _, name := range names {
		i := slices.IndexFunc(thresholds, func(t threshold) bool { return t.name == name })
		if i < 0 {
			return nil, fmt.Errorf("threshold %q: expected constants of kernels/tuning.go", name)
		}
		list = append(list, thresholds[i])
	}
	return list, nil
}

// tune measures the thresholds of those names, or all, with several values each, and
// writes what it finds.
func tune(s setting, names []string, m machine, w io.Writer, p *progress) error {
	list, err := selected(names)
	if err != nil {
		return err
	}
	t, err := readTuning("../kernels", nil)
	if err != nil {
		return err
	}
	directory, err := os.MkdirTemp("", "tune")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory)

	p.say("to begin with, two builds, and a few calls of everything: they tell how long all of it takes")
	first := list[0]
	program, err := t.build(directory, first.name, t.values[first.name])
	if err != nil {
		return err
	}
	start := time.Now()
	if _, err := t.build(directory, first.name, first.others(t.values[first.name])[0]); err != nil {
		return err
	}
	building, all := time.Since(start), time.Duration(0)
	var calls, bounds []job
	for _, x := range list {
		call, err := newJob(program, posenc.Implementation(), s.name, x.name, p)
		if err != nil {
			return err
		}
		sizes := map[string]bool{}
		for _, plan := range call.plans {
			sizes[strconv.Itoa(boundBytes(plan))] = true
		}
		bound, err := newJob(program, posenc.Implementation(), s.name, boundsOf+strings.Join(slices.Sorted(maps.Keys(sizes)), ","), p)
		if err != nil {
			return err
		}
		calls, bounds = append(calls, call), append(bounds, bound)
		others := time.Duration(len(x.others(t.values[x.name])))
		all += others*building + time.Duration(s.runs)*(bound.takes()+(1+others)*call.takes())
	}
	p.say("%d thresholds follow: %v", len(list), all.Round(time.Second))
	planned := time.Now()

	fmt.Fprintf(w, "%simplementation: %s\n\n", m.header(), posenc.Implementation())
	fmt.Fprintf(w, "ns: median of at most %d samples; ±: half the distance of the quartiles; share: of the speed of scaling as many bytes in place; ratio: of the time to that with the present value\n\n", s.runs*s.rounds)
	var ran, passed time.Duration
	var choices strings.Builder
	for i, x := range list {
		present := t.values[x.name]
		byValue := map[int64]job{present: calls[i]}
		for _, v := range x.others(present) {
			j := calls[i] // without the program
			p.step(fmt.Sprintf("build: %s = %d", x.name, v), 0, 0)
			if j.program, err = t.build(directory, x.name, v); err != nil {
				return err
			}
			byValue[v] = j
		}
		raw := map[int64]string{}
		sample := func(j job, v int64, title string) error {
			samples, busy, took, err := j.run(title, p)
			raw[v] += strings.Join(samples, "")
			ran, passed = ran+busy, passed+took
			return err
		}
		values := slices.Sorted(maps.Keys(byValue))
		for run := range s.runs {
			title := fmt.Sprintf("run %d of %d, ", run+1, s.runs)
			if err := sample(bounds[i], present, title+"bounds"); err != nil {
				return err
			}
			for _, v := range values {
				if err := sample(byValue[v], v, fmt.Sprintf("%s%s = %d", title, x.name, v)); err != nil {
					return err
				}
			}
			slices.Reverse(values) // none is always the first
		}
		for _, v := range x.others(present) {
			os.Remove(byValue[v].program) // together they would be half a gigabyte
		}
		ratios, err := x.write(w, present, calls[i].plans, raw)
		if err != nil {
			return err
		}
		value, mean := chosen(present, ratios)
		fmt.Fprintf(&choices, "%s = %d, present %d: %.3f of its time\n", x.name, value, present, mean)
	}
	share := min(1, ran.Seconds()/passed.Seconds())
	fmt.Fprintf(w, "Choice: the present value, unless another is faster by 5 %% in the geometric mean and nowhere slower by as much.\n\n%s\nshare of a core: %s\n", &choices, percent(share))
	if share < undisturbed {
		fmt.Fprintln(w, "The machine was busy: this settles nothing.")
	}
	p.say("it took %v, of %v foreseen", time.Since(planned).Round(time.Second), all.Round(time.Second))
	return nil
}

// boundBytes are those that the bound of a call is measured on: a multiple of 256.
func boundBytes(p measure.Plan) int { return int(p.Bytes+255) / 256 * 256 }

// write writes a line for each value and call and returns the ratios of the values but
// the present one. Bounds are beside the samples of that.
func (x threshold) write(w io.Writer, present int64, plans []measure.Plan, raw map[int64]string) (map[int64][]float64, error) {
	ratios := map[int64][]float64{}
	now, err := parse(raw[present])
	if err != nil {
		return nil, err
	}
	lines := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(lines, "threshold\tvalue\tcall\tns\t±\tshare\tratio\n")
	for _, v := range slices.Sorted(maps.Keys(raw)) {
		r, err := parse(raw[v])
		if err != nil {
			return nil, err
		}
		for _, p := range plans {
			ns, bytes := r.time(p.Name), boundBytes(p)
			ratio := ns / now.time(p.Name)
			if v != present {
				ratios[v] = append(ratios[v], ratio)
			}
			fmt.Fprintf(lines, "%s\t%d\t%s\t%.0f\t%.0f%%\t%.2f\t%.3f\n", x.name, v, strings.TrimPrefix(p.Name, "Tune/"), ns, 100*r.spread(p.Name), float64(p.Bytes)/ns/now.bound("scale", bytes), ratio)
		}
	}
	fmt.Fprintln(lines)
	return ratios, lines.Flush()
}
