// Command llama rotates Q and K of Llama 3 8B on every path of this machine,
// times each against the plain Go loop that engines write today, and checks
// that all of them give the bits of plain Go.
//
//	go run ./examples/llama [-short]
//
// It exits with 1 where bits differ.
//
// A program's path is chosen once, when it starts, so llama runs itself anew
// for each path with POSENC_IMPL set. Loop and path take turns in one process.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/generic"
)

// Llama 3 8B.
const (
	queryHeads = 32
	keyHeads   = 8
	headDim    = 128
	pairs      = headDim / 2
	base       = 500000
)

var (
	short   = flag.Bool("short", false, "a small, quick run")
	measure = flag.String("measure", "", "measure this path and write JSON, as llama runs itself")
)

// Result is what one process measured.
type Result struct {
	Path            string
	Digest          string // SHA-256 of the rotated Q and K, prefill and decode
	Prefill, Decode Timing
}

// Timing holds medians in nanoseconds per token.
type Timing struct{ Path, Loop float64 }

// problem is what is rotated: one prefill and the decode step after it.
type problem struct{ prefill, decode step }

// size returns the tokens of the prefill and the samples of each measurement.
func size() (tokens, samples int) {
	if *short {
		return 512, 11
	}
	return 4096, 21
}

// step is Q and K of some tokens, [tokens][heads][headDim] each.
type step struct {
	positions []int32
	q, k      []float32
}

func newProblem() *problem {
	tokens, _ := size()
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
func reference() (string, error) {
	ladder, err := frequency.Default(headDim, base, frequency.Exact)
	if err != nil {
		return "", err
	}
	p := newProblem()
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

// measurePath rotates the problem on the path of this process.
func measurePath() (Result, error) {
	result := Result{Path: posenc.Implementation()}
	r, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Base: base})
	if err != nil {
		return result, err
	}
	p := newProblem()
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

	// The table that the loop reads, one row for each position.
	rows := append(slices.Clone(p.prefill.positions), p.decode.positions...)
	cos, sin := make([]float32, len(rows)*pairs), make([]float32, len(rows)*pairs)
	if err := r.CosSin(cos, sin, rows); err != nil {
		return result, err
	}
	_, samples := size()
	timing := func(s *step) Timing {
		path, loop := inTurns(samples,
			func() { rotate(s) },
			func() {
				plainLoop(s.q, cos, sin, s.positions, queryHeads)
				plainLoop(s.k, cos, sin, s.positions, keyHeads)
			})
		tokens := float64(len(s.positions))
		return Timing{path / tokens, loop / tokens}
	}
	result.Prefill = timing(&p.prefill)
	result.Decode = timing(&p.decode)
	return result, nil
}

// inTurns returns the median nanoseconds of a call of a and of b. A sample is
// as many calls as take a few hundred microseconds.
func inTurns(samples int, a, b func()) (medianA, medianB float64) {
	const least = 300 * time.Microsecond
	sample := func(f func(), calls int) float64 {
		start := time.Now()
		for range calls {
			f()
		}
		return float64(time.Since(start).Nanoseconds()) / float64(calls)
	}
	callsFor := func(f func()) int {
		f() // warm up
		calls := 1
		for sample(f, calls)*float64(calls) < float64(least) {
			calls *= 2
		}
		return calls
	}
	callsA, callsB := callsFor(a), callsFor(b)
	var timesA, timesB []float64
	for range samples {
		timesA = append(timesA, sample(a, callsA))
		timesB = append(timesB, sample(b, callsB))
	}
	slices.Sort(timesA)
	slices.Sort(timesB)
	return timesA[samples/2], timesB[samples/2]
}

// errCannotStart says that a program cannot run itself here.
var errCannotStart = errors.New("cannot start itself")

// runPath measures a path in a process of its own.
func runPath(path string) (Result, error) {
	var result Result
	executable, err := os.Executable()
	if err != nil {
		return result, fmt.Errorf("%w: %v", errCannotStart, err)
	}
	var out bytes.Buffer
	command := exec.Command(executable, "-measure", path, fmt.Sprintf("-short=%t", *short))
	command.Env = append(os.Environ(), "POSENC_IMPL="+path)
	command.Stdout, command.Stderr = &out, os.Stderr
	if err := command.Start(); err != nil {
		return result, fmt.Errorf("%w: %v", errCannotStart, err)
	}
	if err := command.Wait(); err != nil {
		return result, fmt.Errorf("path %s: %w", path, err)
	}
	return result, json.Unmarshal(out.Bytes(), &result)
}

// runPaths measures every path that this machine has, or, where the program
// cannot run itself, the current one.
func runPaths() ([]Result, error) {
	var results []Result
	for _, path := range []string{"avx512", "avx2", "neon", "generic"} {
		result, err := runPath(path)
		if errors.Is(err, errCannotStart) {
			fmt.Printf("The program %v: the current path only.\n", err)
			result, err = measurePath()
			return []Result{result}, err
		}
		if err != nil {
			return nil, err
		}
		if result.Path == path {
			results = append(results, result)
		}
	}
	return results, nil
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("llama: ")
	flag.Parse()
	if *measure != "" {
		result := Result{Path: posenc.Implementation()}
		if result.Path == *measure { // a path that is not there runs as generic
			var err error
			if result, err = measurePath(); err != nil {
				log.Fatal(err)
			}
		}
		if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
			log.Fatal(err)
		}
		return
	}

	want, err := reference()
	if err != nil {
		log.Fatal(err)
	}
	tokens, samples := size()
	fmt.Printf("Llama 3 8B: %d query and %d key heads of %d, base %d, HalfSplit, float32, one thread\n", queryHeads, keyHeads, headDim, base)
	fmt.Printf("%s/%s, %s; medians of %d, the path and the loop alternately\n", runtime.GOOS, runtime.GOARCH, runtime.Version(), samples)
	fmt.Print("loop: plain Go over a ready float32 table; the paths make cos and sin in every call\n")
	fmt.Print("GB/s: the bytes of Q and K, once, by the time of the path\n")
	results, err := runPaths()
	if err != nil {
		log.Fatal(err)
	}

	differ := false
	const bytesPerToken = 4 * (queryHeads + keyHeads) * headDim
	table := func(title string, timing func(r *Result) Timing) {
		fmt.Printf("\n%s\n%-8s %12s %8s %14s %9s  %s\n", title, "path", "ns/token", "GB/s", "loop ns/token", "speed-up", "bits")
		for i := range results {
			r := &results[i]
			bits := "as plain Go"
			if r.Digest != want {
				bits, differ = "DIFFER from plain Go", true
			}
			t := timing(r)
			fmt.Printf("%-8s %12.1f %8.2f %14.1f %8.2fx  %s\n", r.Path, t.Path, bytesPerToken/t.Path, t.Loop, t.Loop/t.Path, bits)
		}
	}
	table(fmt.Sprintf("prefill of %d tokens", tokens), func(r *Result) Timing { return r.Prefill })
	table(fmt.Sprintf("decode at position %d", tokens), func(r *Result) Timing { return r.Decode })
	fmt.Printf("\nSHA-256 of the rotated Q and K: plain Go %s\n", want)
	if differ {
		for _, r := range results {
			fmt.Printf("%s%s\n", strings.Repeat(" ", 36-len(r.Path))+r.Path+" ", r.Digest)
		}
		os.Exit(1)
	}
}
