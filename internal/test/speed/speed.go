// Package speed rotates Q and K of Llama 3 8B on every path of this machine, times each
// against the plain Go loop that engines write today, and checks that all of them give the
// bits of plain Go.
//
// A program's path is chosen once, when it starts: each is measured in a process of its own,
// with POSENC_IMPL set. The loop is measured once, in the process of Compare.
package speed

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/test/measure"
)

// Llama 3 8B.
const (
	queryHeads = 32
	keyHeads   = 8
	headDim    = 128
	pairs      = headDim / 2
	base       = 500000

	bytesPerToken = 4 * (queryHeads + keyHeads) * headDim
)

// Report compares the paths of a machine.
type Report struct {
	Tokens  int      `json:"tokens"`  // of the prefill
	Samples int      `json:"samples"` // of which times are medians
	Digest  string   `json:"digest"`  // of plain Go
	Loop    Times    `json:"loop"`    // of plainLoop
	Paths   []Result `json:"paths"`

	// Alone says why only the path of this process was measured; "" where all were.
	Alone string `json:"alone,omitempty"`
}

// Result is what one process measured.
type Result struct {
	Path   string `json:"path"`
	Digest string `json:"digest"` // SHA-256 of the rotated Q and K, prefill and decode
	Times
}

// Times holds medians in nanoseconds per token.
type Times struct {
	Prefill float64 `json:"prefill_ns_per_token"`
	Decode  float64 `json:"decode_ns_per_token"`
}

// problem is what is rotated: one prefill and the decode step after it.
type problem struct{ prefill, decode step }

// size returns the tokens of the prefill and the samples of each measurement.
func size(short bool) (tokens, samples int) {
	if short {
		return 512, 11
	}
	return 4096, 21
}

// step is Q and K of some tokens, [tokens][heads][headDim] each.
type step struct {
	positions []int32
	q, k      []float32
}

func newProblem(tokens int) *problem {
	random := uint64(1)
	newStep := func(first, tokens int) step {
		s := step{q: values(&random, tokens*queryHeads*headDim), k: values(&random, tokens*keyHeads*headDim)}
		for t := range tokens {
			s.positions = append(s.positions, int32(first+t))
		}
		return s
	}
	prefill := newStep(0, tokens)
	return &problem{prefill: prefill, decode: newStep(tokens, 1)}
}

// values returns n numbers in [-2, 2): Knuth's MMIX generator.
func values(random *uint64, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		*random = *random*6364136223846793005 + 1442695040888963407
		x[i] = float32(int32(*random>>32)) * 0x1p-30
	}
	return x
}

func (p *problem) digest() string {
	hash := sha256.New()
	for _, x := range [][]float32{p.prefill.q, p.prefill.k, p.decode.q, p.decode.k} {
		binary.Write(hash, binary.LittleEndian, x) // a hash has no errors
	}
	return fmt.Sprintf("%x", hash.Sum(nil))
}

// reference rotates the problem by package generic and returns its digest.
func reference(tokens int) (string, error) {
	ladder, err := frequency.Default(headDim, base, frequency.Exact)
	if err != nil {
		return "", err
	}
	p := newProblem(tokens)
	var cos, sin [pairs]float32
	for _, s := range []step{p.prefill, p.decode} {
		for t, position := range s.positions {
			generic.CosSinExact(cos[:], sin[:], position, ladder.InvFreq, 1, 1)
			for _, x := range [][]float32{s.q, s.k} {
				perToken := len(x) / len(s.positions)
				for head := range slices.Chunk(x[t*perToken:(t+1)*perToken], headDim) {
					generic.RotateHalfSplitF32(head[:pairs], head[pairs:], head[:pairs], head[pairs:], cos[:], sin[:])
				}
			}
		}
	}
	return p.digest(), nil
}

// plainLoop is what engines write today: a loop over a ready table of float32.
// (Its bits are its own where the compiler fuses multiply and add.)
func plainLoop(x, cos, sin []float32, positions []int32, heads int) {
	for t, position := range positions {
		c := cos[int(position)*pairs:][:pairs]
		s := sin[int(position)*pairs:][:pairs]
		for h := range heads {
			row := x[(t*heads+h)*headDim:][:headDim]
			for i := range pairs {
				x1, x2 := row[i], row[i+pairs]
				row[i] = x1*c[i] - x2*s[i]
				row[i+pairs] = x2*c[i] + x1*s[i]
			}
		}
	}
}

// Measure measures the path of this process.
func Measure(short bool) (Result, error) {
	tokens, samples := size(short)
	result := Result{Path: posenc.Implementation()}
	r, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit, Base: base})
	if err != nil {
		return result, err
	}
	p := newProblem(tokens)
	rotate := func(s *step) error {
		return posenc.Rotate(r.At(s.positions),
			posenc.View[float32]{Data: s.q, Heads: queryHeads},
			posenc.View[float32]{Data: s.k, Heads: keyHeads})
	}
	for _, s := range []*step{&p.prefill, &p.decode} {
		if err := rotate(s); err != nil {
			return result, err
		}
	}
	result.Digest = p.digest()
	result.Times, err = p.times(samples, rotate)
	return result, err
}

// measureLoop measures plainLoop.
func measureLoop(short bool) (Times, error) {
	tokens, samples := size(short)
	r, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit, Base: base})
	if err != nil {
		return Times{}, err
	}
	p := newProblem(tokens)
	rows := append(slices.Clone(p.prefill.positions), p.decode.positions...) // of its table
	cos, sin := make([]float32, len(rows)*pairs), make([]float32, len(rows)*pairs)
	if err := r.CosSin(cos, sin, rows); err != nil {
		return Times{}, err
	}
	return p.times(samples, func(s *step) error {
		plainLoop(s.q, cos, sin, s.positions, queryHeads)
		plainLoop(s.k, cos, sin, s.positions, keyHeads)
		return nil
	})
}

// times measures rotate on both steps.
func (p *problem) times(samples int, rotate func(*step) error) (t Times, err error) {
	median := func(s *step) (float64, error) {
		medians, err := measure.Medians([]measure.Case{{Name: "rotate", Run: func() error { return rotate(s) }}}, samples)
		if err != nil {
			return 0, err
		}
		return medians[0] / float64(len(s.positions)), nil
	}
	if t.Prefill, err = median(&p.prefill); err == nil {
		t.Decode, err = median(&p.decode)
	}
	return t, err
}

// Steps is how often Compare calls its done.
func Steps() int { return len(dispatch.Supported()) + 1 }

// Compare measures every path that this machine has. arguments make this program call
// MeasureChild; where it cannot run itself, the path of this process is measured. done is
// called whenever a part is done.
func Compare(short bool, arguments []string, done func()) (*Report, error) {
	r := &Report{}
	r.Tokens, r.Samples = size(short)
	var err error
	if r.Digest, err = reference(r.Tokens); err != nil {
		return nil, err
	}
	if r.Loop, err = measureLoop(short); err != nil {
		return nil, err
	}
	done()
	for _, path := range dispatch.Supported() {
		result, err := runPath(path.String(), arguments)
		if errors.Is(err, errCannotStart) {
			r.Alone = err.Error()
			result, err = Measure(short)
			r.Paths = []Result{result}
			return r, err
		}
		if err != nil {
			return nil, err
		}
		r.Paths = append(r.Paths, result)
		done()
	}
	return r, nil
}

// errCannotStart says that a program cannot run itself here.
var errCannotStart = errors.New("cannot start itself")

// pathVariable is the environment of a child that measures one path.
const pathVariable = "POSENC_IMPL"

// runPath measures a path in a process of its own.
func runPath(path string, arguments []string) (Result, error) {
	var result Result
	executable, err := os.Executable()
	if err != nil {
		return result, fmt.Errorf("%w: %v", errCannotStart, err)
	}
	var out bytes.Buffer
	command := exec.Command(executable, arguments...)
	command.Env = append(os.Environ(), pathVariable+"="+path)
	command.Stdout, command.Stderr = &out, os.Stderr
	if err := command.Start(); err != nil {
		return result, fmt.Errorf("%w: %v", errCannotStart, err)
	}
	if err := command.Wait(); err != nil {
		return result, fmt.Errorf("path %s: %w", path, err)
	}
	return result, json.Unmarshal(out.Bytes(), &result)
}

// MeasureChild is what a process does that Compare has started: it writes what it measured
// to w.
func MeasureChild(short bool, w io.Writer) error {
	result, err := Measure(short)
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(result)
}

// Same says whether all paths give the bits of plain Go.
func (r *Report) Same() bool {
	return !slices.ContainsFunc(r.Paths, func(p Result) bool { return p.Digest != r.Digest })
}

// Rows are the report as a table with a line of titles.
func (r *Report) Rows() [][]string {
	rows := [][]string{{"step", "implementation", "ns_per_token", "GB_per_s", "speed_up", "same_bits"}}
	for _, step := range []struct {
		name string
		ns   func(Times) float64
	}{
		{fmt.Sprintf("prefill of %d tokens", r.Tokens), func(t Times) float64 { return t.Prefill }},
		{fmt.Sprintf("decode at position %d", r.Tokens), func(t Times) float64 { return t.Decode }},
	} {
		add := func(name string, t Times, same string) {
			ns := step.ns(t)
			rows = append(rows, []string{step.name, name, fmt.Sprintf("%.1f", ns), fmt.Sprintf("%.2f", bytesPerToken/ns), fmt.Sprintf("%.2f", step.ns(r.Loop)/ns), same})
		}
		add("loop", r.Loop, "") // the bits of its own
		for _, p := range r.Paths {
			add(p.Path, p.Times, fmt.Sprint(p.Digest == r.Digest))
		}
	}
	return rows
}

// String is the report as text.
func (r *Report) String() string {
	var b strings.Builder
	if r.Alone != "" {
		fmt.Fprintf(&b, "The program %v: the current path only.\n", r.Alone)
	}
	fmt.Fprintf(&b, "Llama 3 8B: %d query and %d key heads of %d, base %d, HalfSplit, float32, one thread\n", queryHeads, keyHeads, headDim, base)
	fmt.Fprintf(&b, "%s/%s, %s; medians of %d\n", runtime.GOOS, runtime.GOARCH, runtime.Version(), r.Samples)
	b.WriteString("loop: plain Go over a ready float32 table; the paths make cos and sin in every call\n")
	b.WriteString("GB/s: the bytes of Q and K, once, by the time\n")
	table := func(title string, ns func(Times) float64) {
		loop := ns(r.Loop)
		fmt.Fprintf(&b, "\n%s\n%-8s %12s %8s %9s  %s\n", title, "", "ns/token", "GB/s", "speed-up", "bits")
		fmt.Fprintf(&b, "%-8s %12.1f %8.2f\n", "loop", loop, bytesPerToken/loop)
		for _, p := range r.Paths {
			bits := "as plain Go"
			if p.Digest != r.Digest {
				bits = "DIFFER from plain Go"
			}
			fmt.Fprintf(&b, "%-8s %12.1f %8.2f %8.2fx  %s\n", p.Path, ns(p.Times), bytesPerToken/ns(p.Times), loop/ns(p.Times), bits)
		}
	}
	table(fmt.Sprintf("prefill of %d tokens", r.Tokens), func(t Times) float64 { return t.Prefill })
	table(fmt.Sprintf("decode at position %d", r.Tokens), func(t Times) float64 { return t.Decode })
	fmt.Fprintf(&b, "\nSHA-256 of the rotated Q and K: plain Go %s\n", r.Digest)
	if !r.Same() {
		for _, p := range r.Paths {
			fmt.Fprintf(&b, "%36s %s\n", p.Path, p.Digest)
		}
	}
	return b.String()
}
