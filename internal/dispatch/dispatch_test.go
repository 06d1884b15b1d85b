package dispatch

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/kernels"
)

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
	list := Supported()
	if list[len(list)-1] != kernels.Generic {
		t.Errorf("Supported() is %v, want generic last", list)
	}
	for _, impl := range list {
		if !slices.Contains(Compiled(), impl) {
			t.Errorf("Supported() has %v, which is not among %v", impl, Compiled())
		}
		restore := Use(impl)
		if Implementation() != impl {
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
		for _, impl := range Supported() {
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
		if slices.Contains(Supported(), impl) {
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

// An implementation runs where the CPU has all that it needs, and nowhere else.
func TestNeeds(t *testing.T) {
	for _, impl := range Compiled() {
		lacks := slices.ContainsFunc(Needs(impl), func(f Feature) bool { return !f.Has })
		if lacks == slices.Contains(Supported(), impl) {
			t.Errorf("%v: %v, and it is supported: %t", impl, Needs(impl), !lacks)
		}
	}
}
