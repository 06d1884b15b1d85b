package dispatch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/kernels"
)

// TestImplementations says what the suite runs. POSENC_REQUIRE names
// implementations, separated by commas, without which it fails.
func TestImplementations(t *testing.T) {
	var names []string
	for _, impl := range supported() {
		names = append(names, impl.String())
	}
	t.Logf("%s/%s: tested here: %s; in use: %s", runtime.GOOS, runtime.GOARCH, strings.Join(names, ", "), Implementation())
	for _, impl := range compiled() {
		if !slices.Contains(supported(), impl) {
			t.Logf("NOT TESTED here: %s", impl)
		}
	}
	if float16TiesUp {
		t.Log("NOT TESTED here: ties of float16, which Bochs rounds up")
	}
	for name := range strings.SplitSeq(os.Getenv("POSENC_REQUIRE"), ",") {
		if name != "" && !slices.Contains(names, name) {
			t.Errorf("POSENC_REQUIRE asks for %q; this machine and build have %s", name, strings.Join(names, ", "))
		}
	}
}

func TestChoose(t *testing.T) {
	const none = "none"
	all := []kernels.Implementation{kernels.AVX512, kernels.AVX2, kernels.Generic}
	for _, tt := range []struct {
		request   string
		available []kernels.Implementation
		want      kernels.Implementation
	}{
		{"", all, kernels.AVX512},
		{"", all[1:], kernels.AVX2},
		{"", all[2:], kernels.Generic},
		{"avx512", all, kernels.AVX512},
		{"avx2", all, kernels.AVX2},
		{"generic", all, kernels.Generic},
		{"avx512", all[1:], kernels.Generic}, // never raised, and not the next best
		{"neon", all, kernels.Generic},
		{"neon", []kernels.Implementation{kernels.NEON, kernels.Generic}, kernels.NEON},
		{"avx2", []kernels.Implementation{kernels.NEON, kernels.Generic}, kernels.Generic},
		{none, all, kernels.Generic},
		{"AVX2", all, kernels.Generic},
		{" avx2", all, kernels.Generic},
		{"unknown", all, kernels.Generic},
	} {
		if got := choose(tt.request, tt.available); got != tt.want {
			t.Errorf("choose(%q, %v) is %v, want %v", tt.request, tt.available, got, tt.want)
		}
	}
}

func TestSupported(t *testing.T) {
	list := supported()
	if list[len(list)-1] != kernels.Generic {
		t.Errorf("supported() is %v, want generic last", list)
	}
	for _, impl := range list {
		if !slices.Contains(compiled(), impl) {
			t.Errorf("supported() has %v, which is not among %v", impl, compiled())
		}
		restore := use(impl)
		if Implementation() != impl.String() {
			t.Errorf("Implementation() is %q, want %q", Implementation(), impl)
		}
		restore()
	}
}

// child is the environment variable that makes TestChild print.
const child = "POSENC_TEST_CHILD"

func TestChild(t *testing.T) {
	if os.Getenv(child) == "" {
		t.Skip("runs in a process of its own, started by TestEnvironment")
	}
	fmt.Printf("implementation=%s\n", Implementation())
}

// environment runs a process with the variables added and returns what it said
// its implementation was.
func environment(t *testing.T, variables ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Skipf("NOT TESTED: no way to start a process: %v", err)
	}
	cmd := exec.Command(self, "-test.run=^TestChild$", "-test.count=1")
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "POSENC_IMPL=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(append(cmd.Env, child+"=1"), variables...)
	var out, errors strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errors
	if err := cmd.Start(); err != nil { // an emulator, or a system without processes
		t.Skipf("NOT TESTED: no way to start a process: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %v\n%s%s", variables, err, out.String(), errors.String())
	}
	m := regexp.MustCompile(`implementation=(\w+)`).FindStringSubmatch(out.String())
	if m == nil {
		t.Fatalf("%v: no implementation in %q", variables, out.String())
	}
	return m[1]
}

// What the environment asks for is what a program gets.
func TestEnvironment(t *testing.T) {
	without := func(off ...kernels.Implementation) string {
		for _, impl := range supported() {
			if !slices.Contains(off, impl) {
				return impl.String()
			}
		}
		return ""
	}
	type setting struct {
		variables []string
		want      string
	}
	settings := []setting{
		{nil, without()},
		{[]string{"POSENC_IMPL="}, without()},
		{[]string{"POSENC_IMPL=nonsense"}, "generic"},
	}
	for _, impl := range []kernels.Implementation{kernels.Generic, kernels.AVX2, kernels.AVX512, kernels.NEON} {
		want := "generic"
		if slices.Contains(supported(), impl) {
			want = impl.String()
		}
		settings = append(settings, setting{[]string{"POSENC_IMPL=" + impl.String()}, want})
	}
	if runtime.GOARCH == "amd64" {
		off := func(feature string) string {
			return "GODEBUG=" + strings.TrimPrefix(os.Getenv("GODEBUG")+","+feature, ",")
		}
		settings = append(settings,
			setting{[]string{off("cpu.avx2=off")}, "generic"},
			setting{[]string{off("cpu.fma=off")}, "generic"},
			setting{[]string{off("cpu.f16c=off")}, "generic"},
			setting{[]string{off("cpu.avx512f=off")}, without(kernels.AVX512)},
			setting{[]string{off("cpu.avx2=off"), "POSENC_IMPL=avx2"}, "generic"},
		)
	}
	for _, s := range settings {
		t.Run(strings.Join(s.variables, " "), func(t *testing.T) {
			if got := environment(t, s.variables...); got != s.want {
				t.Errorf("got %s, want %s", got, s.want)
			}
		})
	}
}

// sinusoidalOf4 makes rows of four positions, which share a seed.
func sinusoidalOf4(impl kernels.Implementation, to kernels.Sinusoids) {
	var x [8]float32
	var blocks [1]kernels.Block
	var shifts [1]kernels.Shift
	blocks[0].Set([]float64{1})
	shifts[0].Set(impl, &blocks[0])
	to.Sin, to.Cos, to.Stride, to.Scaling, to.Scale = x[:], x[1:], 2, 1, 1
	kernels.SinusoidalRows(impl, &to, []int32{32, 33, 34, 35}, blocks[:], shifts[:])
}

// operations calls every kernel, each with so little to do that only a missing
// row can go wrong.
var operations = map[string]func(impl kernels.Implementation){
	"CosSinExactF32": func(impl kernels.Implementation) {
		var cos, sin [1]float32
		var block kernels.Block
		block.Set([]float64{1})
		kernels.CosSinExactRow(impl, cos[:], sin[:], 1, &block, 1, 1)
	},
	"CosSinSeedF64": func(impl kernels.Implementation) {
		var block kernels.Block
		block.Set([]float64{1})
		new(kernels.Shift).Set(impl, &block)
	},
	"SinusoidalRowsInterleavedF32": func(impl kernels.Implementation) {
		sinusoidalOf4(impl, kernels.Sinusoids{Interleaved: true})
	},
	"AddSinusoidalInterleavedF32": func(impl kernels.Implementation) {
		sinusoidalOf4(impl, kernels.Sinusoids{Interleaved: true, Add: true})
	},
	"AddSinusoidalHalfSplitF32": func(impl kernels.Implementation) {
		sinusoidalOf4(impl, kernels.Sinusoids{Add: true})
	},
	"CosSinShiftF32": func(impl kernels.Implementation) {
		var cos, sin [8]float32
		var block kernels.Block
		var shift kernels.Shift
		block.Set([]float64{1})
		shift.Set(impl, &block)
		kernels.CosSinExactRows(impl, cos[:], sin[:], 1, []int32{0, 1, 2, 3, 4, 5, 6, 7}, &block, &shift, 1, 1, false)
	},
	"CosSinShiftNonTemporalF32": func(impl kernels.Implementation) {
		var block kernels.Block
		var shift kernels.Shift
		block.Set(make([]float64, 8))
		shift.Set(impl, &block)
		cos, sin := aligned(64), aligned(64)
		kernels.CosSinExactRows(impl, cos, sin, 8, []int32{0, 1, 2, 3, 4, 5, 6, 7}, &block, &shift, 1, 1, true)
	},
	"CopyNonTemporalB32": func(impl kernels.Implementation) {
		kernels.CopyPastCaches(impl, aligned(8), aligned(8))
	},
	"FenceStores": func(impl kernels.Implementation) { kernels.FenceStores(impl) },
	"CosSinFloat32F32": func(impl kernels.Implementation) {
		var cos, sin [1]float32
		kernels.CosSinFloat32(impl, cos[:], sin[:], []float32{1}, 1, 1, 1)
	},
}

// No operation lacks a row: kernels panics where one is missing.
func TestOperationsHaveRows(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, o := range rotations {
			t.Run("operation="+o.name(), func(t *testing.T) {
				var x, cos, sin [2]float32
				o.at(impl, unsafe.Pointer(&x), len(x), cos[:], sin[:], &kernels.Rows{Pairs: 1, Partner: 1, Tokens: 1, Heads: 1})
			})
		}
		for _, n := range norms {
			for _, name := range n.names() {
				t.Run("operation="+name, func(t *testing.T) {
					var x [2]float32
					n.at(name, impl, unsafe.Pointer(&x), x[:], &kernels.Lines{Len: 2, Count: 1})
				})
			}
		}
		for _, o := range fusions {
			t.Run("operation="+o.operation, func(t *testing.T) {
				var x, table [2]float32
				o.kernel(impl, x[:], table[:], table[:], table[:], &kernels.Fusion{Lines: kernels.Lines{Len: 2, Count: 1}, Pairs: 1}, 1)
			})
		}
		for _, o := range biases {
			t.Run("operation="+o.name, func(t *testing.T) {
				var y, x [1]float32
				o.kernel(impl, y[:], x[:], 0, 0, 1, &kernels.Tile{Len: 1, Rows: 1})
			})
		}
		for _, o := range matrixProducts {
			t.Run("operation="+o.name, func(t *testing.T) {
				var y, x, vectors [1]float32
				o.kernel(impl, y[:], x[:], vectors[:], &kernels.Matrices{Len: 1, Rows: 1, Columns: 1})
			})
		}
		for _, o := range copies {
			t.Run("operation="+o.name(), func(t *testing.T) {
				var y, x [2]float32
				o.at(impl, unsafe.Pointer(&y), unsafe.Pointer(&x), len(x))
			})
		}
		for _, o := range additions {
			t.Run("operation="+o.name(), func(t *testing.T) {
				var x, y [2]float32
				o.at(impl, unsafe.Pointer(&x), y[:], len(x))
			})
		}
		for name, call := range operations {
			t.Run("operation="+name, func(t *testing.T) { call(impl) })
		}
	})
}

// Every kernel is tested: those of all stubs are operations here, and the other
// way round.
func TestOperationsComplete(t *testing.T) {
	tested := map[string]bool{}
	for name := range operations {
		tested[name] = true
	}
	for _, o := range rotations {
		tested[o.name()] = true
	}
	for _, o := range fusions {
		tested[o.operation] = true
	}
	for _, n := range norms {
		for _, name := range n.names() {
			tested[name] = true
		}
	}
	for _, o := range biases {
		tested[o.name] = true
	}
	for _, o := range matrixProducts {
		tested[o.name] = true
	}
	for _, o := range copies {
		tested[o.name()] = true
	}
	for _, o := range additions {
		tested[o.name()] = true
	}
	files, err := filepath.Glob("asm/*_*64.go")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("NOT TESTED: there is no source here, only the test binary")
	}
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (\w+)(?:AVX2|AVX512|NEON)\(`).FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = true
		}
	}
	for name := range found {
		if !tested[name] {
			t.Errorf("kernel %s is not tested", name)
		}
	}
	for name := range tested {
		if !found[name] {
			t.Errorf("operation %s has no kernel", name)
		}
	}
}
