package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/go-posenc/posenc"
)

// The figures of the documents: everything that is published is made from the files in
// results, and from nothing else.
const (
	resultsDirectory = "results"
	chartFile        = "../docs/pictures/speed.png"
	figuresFile      = "../docs/performance.md"
)

// published is a machine that the documents have figures of.
type published struct {
	name   string // what people call the CPU
	report string // the directory of its report
	texts  string // pattern of further files: benchmarks of packages, libraries that bench does not link

	implementation string // the fastest, which is what a program there runs
	header         map[string]string
	measured       results // of the report
	further        results // of the further files
	ratios         ratios
}

// The newest is the first.
var machines = []published{
	{name: "AMD EPYC (Zen 5)", report: "amd-epyc-family-26-model-2", texts: "amd-epyc-zen5*.txt"},
	{name: "Intel Xeon (family 6, model 167)", report: "intel-r-xeon-r-processor-family-6-model-167", texts: "intel-xeon*.txt"},
	{name: "AMD EPYC (Zen 3)", report: "amd-epyc-family-25-model-1", texts: "amd-epyc-zen3*.txt"},
}

// title has what a caption has to say.
func (m *published) title() string {
	return m.name + ", " + instructionSets[m.implementation]
}

// ratios are what benchmarks of packages compare, by the name of the benchmark and the
// unit.
type ratios map[string]map[string]float64

// readText adds what a further file has. Its names lose the number of processors, and two
// have today's.
func (m *published) readText(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	reader := benchfmt.NewReader(bytes.NewReader(text), name)
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.Result:
			key := renamed.Replace(processors.ReplaceAllString(record.Name.String(), "$1"))
			for _, v := range record.Values {
				switch {
				case v.Unit == "sec/op", v.Unit == "sec/call":
					m.further[key] = append(m.further[key], 1e9*v.Value)
				case m.ratios[key] == nil:
					m.ratios[key] = map[string]float64{}
					fallthrough
				default:
					m.ratios[key][v.Unit] = v.Value
				}
			}
		case *benchfmt.SyntaxError:
			return record
		}
	}
	return reader.Err()
}

var (
	processors = regexp.MustCompile(`((?:impl|against|to)=[^/]*)-\d+$`)
	renamed    = strings.NewReplacer("Axes/map=", "RotateByAxes/map=", "Tabulated/", "RotateByRows/")
)

// headerOf has the lines before the samples.
func headerOf(raw string) map[string]string {
	header := map[string]string{}
	for line := range strings.Lines(raw) {
		key, value, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found {
			break
		}
		header[key] = value
	}
	return header
}

// publishedMachines reads all files.
func publishedMachines(directory string) ([]published, error) {
	list := slices.Clone(machines)
	for i := range list {
		m := &list[i]
		m.further, m.ratios = results{}, ratios{}
		raw, err := os.ReadFile(filepath.Join(directory, m.report, "raw.txt"))
		if err != nil {
			return nil, err
		}
		m.header = headerOf(string(raw))
		if m.measured, err = parse(string(raw)); err != nil {
			return nil, err
		}
		texts, err := filepath.Glob(filepath.Join(directory, m.texts))
		if err != nil {
			return nil, err
		}
		for _, name := range texts {
			if err := m.readText(name); err != nil {
				return nil, err
			}
		}
		for _, implementation := range []string{"avx512", "avx2", "neon"} {
			if len(m.measured[rotations(full)[0].name(implementation)]) > 0 {
				m.implementation = cmp.Or(m.implementation, implementation)
			}
		}
		if m.implementation == "" {
			return nil, fmt.Errorf("%s: no rotation by a kernel", m.report)
		}
	}
	return list, nil
}

// contender is a way to rotate the Q of Llama 3 8B: the operator of a peer, of float32.
type contender struct {
	name       string
	ours       bool
	onlyTables bool     // not in the chart
	samples    []source // the first that a machine has counts
}

// source is where samples are: the parts of their names.
type source struct {
	in              func(m *published) results
	operation, peer string
}

func ownReport(m *published) results    { return m.measured }
func furtherFiles(m *published) results { return m.further }

// ofImplementation are the files of machines whose fastest implementation it is.
func ofImplementation(implementation string, in func(m *published) results) func(m *published) results {
	return func(m *published) results {
		if m.implementation != implementation {
			return nil
		}
		return in(m)
	}
}

// posencBy is posenc itself: as it ran beside the peers, else as in the report.
func posencBy(implementation string) contender {
	return contender{name: "posenc, " + instructionSets[implementation], ours: true, samples: []source{
		{furtherFiles, "operator-f32-%d-%s", "posenc-" + implementation},
		{ofImplementation(implementation, furtherFiles), "operator-f32-%d-%s", "posenc"},
		{ofImplementation(implementation, ownReport), "operator-%d-%s", "posenc"},
	}}
}

var instructionSets = map[string]string{"avx512": "AVX-512", "avx2": "AVX2", "neon": "NEON"}

var contenders = []contender{
	posencBy("avx512"), posencBy("avx2"), posencBy("neon"),
	{name: "ggml", samples: []source{{furtherFiles, "operator-f32-%d-%s", "ggml"}}},
	{name: "plain Go", samples: []source{{ownReport, "operator-%d-%s", "recurrence-per-token"}}},
	{name: "plain Go with math.Pow", onlyTables: true, samples: []source{{ownReport, "operator-%d-%s", "math.Pow--Cos--Sin-per-pair"}}},
	{name: "PyTorch", samples: []source{{furtherFiles, "operator-%d-%s", "PyTorch"}}},
}

// perToken is the time in ns, NaN where it was not measured.
func (c contender) perToken(m *published, tokens int, layout posenc.Layout) float64 {
	for _, s := range c.samples {
		name := "Peers/op=" + fmt.Sprintf(s.operation, tokens, layoutName(layout)) + "/peer=" + s.peer
		if ns := s.in(m).time(name) / float64(tokens); !math.IsNaN(ns) {
			return ns
		}
	}
	return math.NaN()
}

// contenders are those that were measured on a machine, its fastest posenc first.
func (m *published) contenders() []contender {
	return slices.DeleteFunc(slices.Clone(contenders), func(c contender) bool { return math.IsNaN(c.perToken(m, 1, posenc.HalfSplit)) })
}

// updateFigures writes the chart and the tables of the documents anew.
func updateFigures() error {
	list, err := publishedMachines(resultsDirectory)
	if err != nil {
		return err
	}
	picture, err := drawChart(list)
	if err != nil {
		return err
	}
	document, err := os.ReadFile(figuresFile)
	if err != nil {
		return err
	}
	if document, err = replaceFigures(document, figureTables(list)); err != nil {
		return err
	}
	if err := os.WriteFile(chartFile, picture, 0o666); err != nil {
		return err
	}
	return os.WriteFile(figuresFile, document, 0o666)
}

const figuresBegin, figuresEnd = "<!-- figures -->\n", "<!-- end of the figures -->\n"

// replaceFigures replaces what is between the two marks.
func replaceFigures(document []byte, figures string) ([]byte, error) {
	before, rest, found := bytes.Cut(document, []byte(figuresBegin))
	_, after, ended := bytes.Cut(rest, []byte(figuresEnd))
	if !found || !ended {
		return nil, fmt.Errorf("%s: expected the lines %q and %q", figuresFile, figuresBegin, figuresEnd)
	}
	return slices.Concat(before, []byte(figuresBegin), []byte(figures), []byte(figuresEnd), after), nil
}

// figureTables are the tables of all machines, in Markdown.
func figureTables(list []published) string {
	var b strings.Builder
	w := func(format string, arguments ...any) { fmt.Fprintf(&b, format, arguments...) }
	w("\nMachines:\n\n")
	for i := range list {
		w("- [%s](#%s)\n", list[i].title(), anchor(list[i].title()))
	}
	for i := range list {
		m := &list[i]
		w("\n## %s\n\n", m.title())
		w("%s; %s; %s; commit %s, %s; one core of a shared virtual machine.\n", m.header["cpu"], m.header["caches"], m.header["go"], m.header["commit"], m.header["date"])
		w("The [report](../bench/results/%s/report.md) has bandwidth by working set, several goroutines, and more peers.\n", m.report)
		m.operators(w)
		m.rotations(w)
		m.tables(w)
		m.others(w)
	}
	return b.String()
}

// anchor is what GitHub makes of a heading.
func anchor(heading string) string {
	return strings.ReplaceAll(regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// operators compares ways to rotate.
func (m *published) operators(w func(string, ...any)) {
	w("\nRotation of Q, %d heads of %d float32, with the cosines and sines: ns per token, and how many times as long as the first.\n"+
		"Plain Go is a float32 loop with ggml's recurrence for the angles, or with `math.Pow`, `Cos` and `Sin` for each pair.\n\n|", queryHeads, headDim)
	found := m.contenders()
	w(" tokens in a call | layout |")
	for _, c := range found {
		w(" %s |", c.name)
	}
	w("\n|--:|---|%s\n", strings.Repeat("--:|", len(found)))
	for _, tokens := range []int{1, full.prefill} {
		for _, layout := range layouts {
			w("| %d | %s |", tokens, layoutTitle(layout))
			ours := found[0].perToken(m, tokens, layout)
			for i, c := range found {
				ns := c.perToken(m, tokens, layout)
				if i == 0 {
					w(" %s |", digits(ns))
				} else {
					w(" %s (%s ×) |", digits(ns), digits(ns/ours))
				}
			}
			w("\n")
		}
	}
}

// plainGo tells whether the figures of package generic are its own: GOEXPERIMENT=simd
// slows them down.
func (m *published) plainGo() bool { return !strings.Contains(m.header["go"], "simd") }

func (m *published) rotations(w func(string, ...any)) {
	w("\n`Rotate`, Q of %d and K of %d heads of %d, with exact cosines and sines made in the call:\n\n", queryHeads, keyHeads, headDim)
	w("| tokens in a call | layout | type | ns per token | GB/s | share of scaling in place |")
	if m.plainGo() {
		w(" posenc's plain Go, ns |")
	}
	w("\n|--:|---|---|--:|--:|--:|")
	if m.plainGo() {
		w("--:|")
	}
	w("\n")
	for _, x := range rotations(full) {
		if x.rotaryDim != headDim {
			continue
		}
		ns := m.measured.time(x.name(m.implementation))
		w("| %d | %s | %s | %s | %s | %s |", x.tokens, layoutTitle(x.layout), elementTitles[x.element], digits(ns/float64(x.tokens)),
			digits(float64(x.bytes())/ns), percent(float64(x.bytes())/ns/m.measured.bound("scale", x.bytes())))
		if m.plainGo() {
			generic := m.measured.time(x.name("generic"))
			w(" %s (%s ×) |", digits(generic/float64(x.tokens)), digits(generic/ns))
		}
		w("\n")
	}
}

func (m *published) tables(w func(string, ...any)) {
	w("\n`Rotary.CosSin`, %d cosines and %d sines in a row:\n\n", pairs, pairs)
	w("| rows | angles | ns per row | GB/s | share of plain stores | of non-temporal stores |\n|--:|---|--:|--:|--:|--:|\n")
	for _, t := range tables(full) {
		ns := m.measured.time(t.name(m.implementation))
		speed := float64(t.bytes()) / ns
		w("| %d | %s | %s | %s | %s | %s |\n", t.rows, t.anglesName(), digits(ns/float64(t.rows)), digits(speed),
			percent(speed/m.measured.bound("store", t.bytes())), percent(speed/m.measured.bound("nontemporal", t.bytes())))
	}
}

// other is an operation that a benchmark of its package compares with another way to
// the same result, or with a bound.
type other struct {
	what, name string // a %s of the name is the implementation
	bytes      int    // that a call changes or writes
	unit       string // of the ratio
	ratio      string // what it says, with the ratio for %s
}

const mebi = 1 << 20

// others is one call of each operation, of a usual size. The files have the other sizes.
var others = []other{
	{"`Rotate`, one token, `Rows` made before", "RotateByRows/impl=%s", 0, "x-on-the-fly", "%s times as fast as with `Rotary.At`"},
	{"`Rotate`, M-RoPE, an image of 512 tokens", "RotateByAxes/map=sections/impl=%s", 8 * mebi, "of-plain", "%s of the speed with one axis"},
	{"`RotateInto`, 2048 keys, float32", "RotateInto/tokens=2048/heads=8/dim=128/impl=%s/to=f32", 8 * mebi, "x-rotate-and-copy", "%s times as fast as `Rotate` and copying"},
	{"the same, to float16", "RotateInto/tokens=2048/heads=8/dim=128/impl=%s/to=f16", 4 * mebi, "x-rotate-and-convert", "%s times as fast as `Rotate` and converting"},
	{"`Shift`, 2048 keys by one delta", "Shift/impl=%s", 8 * mebi, "of-rotate", "%s times as fast as `Rotate`"},
	{"`RotateFused`, norm and rotation, 512 tokens of 32 heads", "FusedAgainstSteps/dtype=f32/tokens=512/heads=32/dim=128/impl=%s", 8 * mebi, "x-steps", "%s times as fast as the steps apart"},
	{"`CosSin`, 4096 rows of 64", "CosSinAgainstBound/rows=4096/pairs=64/impl=%s/against=math.Sincos", 2 * mebi, "x-math.Sincos", "%s times as fast as `math.Sincos` for each entry"},
	{"`AddALiBi`, causal, 32 × 512 × 2048 scores", "AddBias/family=alibi/queries=512/keys=2048/heads=32/impl=%s", 128 * mebi, "of-constant", "%s of the speed of adding a constant"},
	{"`AddT5`, 32 × 512 × 2048 scores", "AddBias/family=t5/queries=512/keys=2048/heads=32/impl=%s", 128 * mebi, "of-constant", "%s of the speed of adding a constant"},
	{"`AddSwin`, 32 × 144 × 144 scores", "AddBias/family=swin/queries=144/keys=144/heads=32/impl=%s", 4 * 32 * 144 * 144, "of-constant", "%s of the speed of adding a constant"},
	{"`AddEmbeddings`, one table, 2048 × 512", "Sinusoidal/tokens=2048/dim=512/operation=gather-add/impl=%s", 4 * mebi, "of-table", "%s of the speed of adding a ready table"},
	{"`SinusoidalRows`, 2048 × 512", "Sinusoidal/tokens=2048/dim=512/operation=rows-halves/impl=%s", 4 * mebi, "of-cos-sin", "%s of the speed of `CosSin` with as many entries"},
	{"`AddSinusoidal`, 2048 × 512", "Sinusoidal/tokens=2048/dim=512/operation=add-halves/impl=%s", 4 * mebi, "of-table", "%s of the speed of adding a ready table"},
}

// others are absent where nobody has run those benchmarks.
func (m *published) others(w func(string, ...any)) {
	begun := false
	for _, o := range others {
		name := fmt.Sprintf(o.name, m.implementation)
		ns := m.further.time(name)
		if math.IsNaN(ns) {
			continue
		}
		if !begun {
			w("\nOther operations, of float32 where nothing is said, by the benchmarks of the packages (%s):\n\n| what | a call | GB/s | ratio |\n|---|--:|--:|---|\n", m.textLinks())
			begun = true
		}
		speed := ""
		if o.bytes > 0 {
			speed = digits(float64(o.bytes) / ns)
		}
		w("| %s | %s | %s | %s |\n", o.what, duration(ns), speed, fmt.Sprintf(o.ratio, fmt.Sprintf("%.2f", m.ratios[name][o.unit])))
	}
}

// textLinks are the further files that have benchmarks of packages, which begin with
// their commit.
func (m *published) textLinks() string {
	names, _ := filepath.Glob(filepath.Join(resultsDirectory, m.texts))
	var links []string
	for _, name := range names {
		text, _ := os.ReadFile(name)
		if commit := regexp.MustCompile(`^# Commit (\w+)`).FindSubmatch(text); commit != nil {
			links = append(links, fmt.Sprintf("[%s](../bench/%s), commit %s", filepath.Base(name), filepath.ToSlash(name), commit[1]))
		}
	}
	return strings.Join(links, "; ")
}

func duration(ns float64) string {
	switch {
	case ns >= 1e6:
		return digits(ns/1e6) + " ms"
	case ns >= 1e4:
		return digits(ns/1e3) + " µs"
	}
	return digits(ns) + " ns"
}

var elementTitles = map[string]string{"f32": "float32", "f16": "float16", "bf16": "bfloat16"}

func layoutTitle(layout posenc.Layout) string {
	if layout == posenc.Interleaved {
		return "Interleaved"
	}
	return "HalfSplit"
}
