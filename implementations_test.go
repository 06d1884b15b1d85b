package posenc_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/testkit"
)

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
	if testkit.Bochs {
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
		testkit.NoError(t, err)
		fmt.Println("again:", posenc.SetImplementation("generic"))
		return
	}
	program := exec.Command(testkit.Must(os.Executable()), "-test.run=^TestSetImplementation$")
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
