package posenc_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/internal/test/operations"
	"github.com/go-posenc/posenc/kernels"
)

func TestMain(m *testing.M) { kit.Main(m) }

// FuzzKernels compares the kernels of every operation, on every implementation of this machine,
// with the definition in package generic: rows of any length, start and strides, with any bits. Those
// that are no loop over rows are called by the functions that complete them.
//
//	go test -fuzz=FuzzKernels .
func FuzzKernels(f *testing.F) {
	list, composed := operations.Regular(), operations.ComposedFunctions(300)
	for i := range len(list) + len(composed) {
		f.Add(uint16(i), uint64(i), uint16(7*i), i%2 == 0, []byte{0, 0, 0x80, 0x7f})
	}
	f.Fuzz(func(t *testing.T, operation uint16, seed uint64, length uint16, packed bool, bits []byte) {
		i := int(operation) % (len(list) + len(composed))
		if i < len(list) {
			tryKernel(t, list[i], seed, int(length%300), packed, bits)
			return
		}
		for _, impl := range kit.Supported() {
			c, r := composed[i-len(list)], kit.NewRand(seed)
			o, p := c.Problem(r, impl, int(length)%(c.Longest+1))
			o.TryOn(t, r, p, operations.Padded(r, o), impl)
		}
	})
}

// TestKernels is a sample of FuzzKernels, by the implementation that operations find in internal/dispatch.
// The tests of package kernels are more thorough.
func TestKernels(t *testing.T) {
	kit.EachImplementation(t, func(t *testing.T, _ kernels.Implementation) {
		for _, o := range operations.Regular() {
			for n := range kit.Rounds(48) {
				r := kit.NewRand(uint64(n))
				p := o.Problem(r, 37*n%300, n%3 == 0)
				o.TryOn(t, r, p, operations.Padded(r, o), dispatch.Implementation())
			}
		}
	})
}

// tryKernel makes a random call by each implementation, whose rows have n elements. The bits, again and again, begin each
// slice of numbers.
func tryKernel(t *testing.T, o *operations.Operation, seed uint64, n int, packed bool, bits []byte) {
	r := kit.NewRand(seed)
	p := o.Problem(r, n, packed)
	prepare := p.Prepare
	p.Prepare = func(r *rand.Rand, a *operations.Arguments) {
		for _, s := range o.Slices {
			for at := 0; s.Element.Set != nil && len(bits) > 0 && at < min(len(a.Memory[s.Name]), 256); {
				at += copy(a.Memory[s.Name][at:], bits)
			}
		}
		if prepare != nil {
			prepare(r, a)
		}
	}
	o.Try(t, r, p, operations.Padded(r, o))
}

// BenchmarkKernels times one call of every operation, on rows of 128 elements or pairs in cache,
// by its name and the implementation.
//
//	go test -bench=Kernels/RotateHalfSplitF32 .
func BenchmarkKernels(b *testing.B) {
	for _, o := range operations.Registry {
		runEach(b, o.Name, func(b *testing.B) {
			impl, r := dispatch.Implementation(), kit.NewRand(1)
			a := o.Place(r, o.Problem(r, 128, true), operations.Padded(r, o))
			size := 0
			for _, memory := range a.Memory {
				size += len(memory)
			}
			b.SetBytes(int64(size))
			for b.Loop() {
				o.Call(impl, a)
			}
		})
	}
}

// TestImplementations says what the suite runs. POSENC_REQUIRE names
// implementations, separated by commas, without which it fails.
func TestImplementations(t *testing.T) {
	var names []string
	for _, impl := range dispatch.Supported() {
		names = append(names, impl.String())
	}
	t.Logf("%s/%s: tested here: %s; in use: %s", runtime.GOOS, runtime.GOARCH, strings.Join(names, ", "), posenc.Implementation())
	for _, impl := range dispatch.Compiled() {
		if !slices.Contains(dispatch.Supported(), impl) {
			t.Logf("NOT TESTED here: %s", impl)
		}
	}
	if kit.Bochs {
		t.Log("NOT TESTED here: ties of float16, which Bochs rounds up")
	}
	for name := range strings.SplitSeq(os.Getenv("POSENC_REQUIRE"), ",") {
		if name != "" && !slices.Contains(names, name) {
			t.Errorf("POSENC_REQUIRE asks for %q; this machine and build have %s", name, strings.Join(names, ", "))
		}
	}
}

const setVariable = "POSENC_TEST_SET"

// A new process takes slower kernels until its first call.
func TestSetImplementation(t *testing.T) {
	if os.Getenv(setVariable) != "" {
		fmt.Println("set:", posenc.SetImplementation("generic"))
		fmt.Println("runs:", posenc.Implementation(), posenc.ImplementationReason())
		_, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, Base: 10000})
		kit.NoError(t, err)
		fmt.Println("again:", posenc.SetImplementation("generic"))
		return
	}
	program := exec.Command(kit.Must(os.Executable()), "-test.run=^TestSetImplementation$")
	program.Env = append(os.Environ(), setVariable+"=1")
	output, err := program.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) { // an emulator, or a system without processes
		t.Skipf("NOT TESTED: no way to start a process: %v", err)
	}
	for _, want := range []string{
		"set: <nil>\n", `runs: generic SetImplementation("generic")` + "\n",
		`again: posenc.SetImplementation: name is "generic", want it set before the first operation: invalid configuration` + "\n",
	} {
		if !strings.Contains(string(output), want) {
			t.Errorf("%v, %s, want %s", err, output, want)
		}
	}
}

// Of the names, those are taken that are not faster than what runs.
func TestSetImplementationNames(t *testing.T) {
	supported := dispatch.Supported()
	for i, impl := range supported {
		for _, name := range []string{"avx512", "avx2", "neon", "generic", "avx521", "AVX2", "", " generic"} {
			restore := dispatch.Use(impl)
			err := posenc.SetImplementation(name)
			var slower []string
			for _, s := range supported[i:] {
				slower = append(slower, s.String())
			}
			switch {
			case slices.Contains(slower, name):
				if err != nil || posenc.Implementation() != name {
					t.Errorf("on %s: %v, and %s runs, want %s", impl, err, posenc.Implementation(), name)
				}
			case !errors.Is(err, posenc.ErrConfig) || !strings.Contains(err.Error(), fmt.Sprintf("name is %q, want", name)) || !strings.Contains(err.Error(), strings.Join(slower, " or ")):
				t.Errorf("on %s, %q: %v", impl, name, err)
			}
			restore()
		}
	}
}

// Calls may come while another goroutine chooses: it succeeds before all of them, or not at all.
func TestSetImplementationMeanwhile(t *testing.T) {
	for range 100 {
		restore := dispatch.Use(dispatch.Supported()[0])
		var ran [3]string
		var err error
		var wait sync.WaitGroup
		wait.Add(1 + len(ran))
		go func() {
			defer wait.Done()
			err = posenc.SetImplementation("generic")
		}()
		for i := range ran {
			go func() {
				defer wait.Done()
				ran[i] = dispatch.Implementation().String()
			}()
		}
		wait.Wait()
		for _, name := range ran {
			if name != posenc.Implementation() || (err == nil) != (name == "generic") && len(dispatch.Supported()) > 1 {
				t.Fatalf("%v, and calls ran on %q", err, ran)
			}
		}
		restore()
	}
}
