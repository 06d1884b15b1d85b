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

// An implementation runs where the CPU has all that it needs, and nowhere else.
func TestSupported(t *testing.T) {
	list := Supported()
	if list[len(list)-1] != kernels.Generic {
		t.Errorf("Supported() is %v, want generic last", list)
	}
	for _, impl := range Compiled() {
		lacks := slices.ContainsFunc(Needs(impl), func(f Feature) bool { return !f.Has })
		if lacks == slices.Contains(list, impl) || impl == kernels.Generic && Needs(impl) != nil {
			t.Errorf("%v: %v, and it is supported: %t", impl, Needs(impl), !lacks)
		}
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
	fmt.Printf("implementation=%s\nreason=%s\n", Implementation(), Reason())
}

// environment runs a process with the variables added and returns what it said its
// implementation was and why, and what it wrote to its error output.
func environment(t *testing.T, variables ...string) (implementation, reason, word string) {
	t.Helper()
	self, _ := os.Executable() // without a name none starts
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
	m := regexp.MustCompile(`implementation=(\w+)\nreason=(.+)`).FindStringSubmatch(out.String())
	if m == nil {
		t.Fatalf("%v: no implementation in %q", variables, out.String())
	}
	return m[1], m[2], errors.String()
}

// What the environment asks for is what a program gets, with the reason. What it asks for in
// vain is heard of.
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
		reason    string // a part of it
	}
	known := strings.Join(names(Supported()), " or ")
	settings := []setting{
		{nil, without(), "the fastest here"},
		{[]string{"POSENC_IMPL="}, without(), "the fastest here"},
		{[]string{"POSENC_IMPL=avx521"}, "generic", `POSENC_IMPL is "avx521", want ` + known + "; plain Go runs"},
	}
	for _, impl := range []kernels.Implementation{kernels.Generic, kernels.AVX2, kernels.AVX512, kernels.NEON} {
		want, reason := "generic", fmt.Sprintf("POSENC_IMPL is %q, want %s", impl, known)
		if slices.Contains(Supported(), impl) {
			want, reason = impl.String(), fmt.Sprintf("POSENC_IMPL is %q", impl)
		}
		settings = append(settings, setting{[]string{"POSENC_IMPL=" + impl.String()}, want, reason})
	}
	if runtime.GOARCH == "amd64" {
		off := func(feature string) string {
			return "GODEBUG=" + strings.TrimPrefix(os.Getenv("GODEBUG")+","+feature, ",")
		}
		needs := func(impl kernels.Implementation, feature string) string {
			if !slices.Contains(Supported(), impl) {
				return "" // without feature or without another
			}
			return fmt.Sprintf("%s needs %s, which GODEBUG switches off", impl, feature)
		}
		settings = append(settings,
			setting{[]string{off("cpu.avx2=off")}, "generic", needs(kernels.AVX2, "AVX2")},
			setting{[]string{off("cpu.fma=off")}, "generic", needs(kernels.AVX2, "FMA3")},
			setting{[]string{off("cpu.avx512f=off")}, without(kernels.AVX512), needs(kernels.AVX512, "AVX512F")},
			setting{[]string{off("cpu.avx2=off"), "POSENC_IMPL=avx2"}, "generic", `POSENC_IMPL is "avx2", want generic; plain Go runs`},
		)
	}
	for _, s := range settings {
		t.Run(strings.Join(s.variables, " "), func(t *testing.T) {
			got, reason, word := environment(t, s.variables...)
			if got != s.want || !strings.Contains(reason, s.reason) {
				t.Errorf("got %s: %s, want %s: %s", got, reason, s.want, s.reason)
			}
			if inVain := strings.Contains(reason, "plain Go runs"); strings.Contains(word, "posenc: "+reason+"\n") != inVain {
				t.Errorf("%s, and the error output has %q", reason, word)
			}
		})
	}
}
