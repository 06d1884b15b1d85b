//go:build amd64 && !purego

package dispatch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/cpuid/v2"
)

// The gate of an implementation has to ask for every feature that its kernels
// need: a missing one kills the program on a CPU without it.
func TestGatesCoverKernels(t *testing.T) {
	kernel := regexp.MustCompile(`(?m)^(?:// Requires: (.*)\n)?TEXT ·(\w+?)(AVX2|AVX512)?\(SB\)`)
	gated := map[string][]cpuid.FeatureID{}
	for _, g := range gates {
		gated[strings.ToUpper(g.impl.String())] = g.features
	}
	kernels, stubs := 0, 0
	for _, folder := range []string{"../../asm", "../../internal/test/bound"} {
		files, err := filepath.Glob(folder + "/*_amd64.s")
		if err != nil || len(files) == 0 {
			t.Skipf("NOT TESTED: there is no source here, only the test binary: %v", err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			declarations, err2 := os.ReadFile(strings.TrimSuffix(file, "s") + "go")
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			stubs += len(regexp.MustCompile(`(?m)^func \w+\(`).FindAll(declarations, -1))
			for _, m := range kernel.FindAllStringSubmatch(string(text), -1) {
				kernels++
				needs, name, isa := m[1], m[2], m[3]
				features, ok := gated[isa]
				if !ok || needs == "" && name != "FenceStores" { // SFENCE is in every amd64
					t.Errorf("%s: %s%s belongs to no gate, or has no line Requires", file, name, isa)
				}
				for _, need := range strings.FieldsFunc(needs, func(r rune) bool { return r == ',' || r == ' ' }) {
					if id := cpuid.ParseFeature(need); id == cpuid.UNKNOWN || !slices.Contains(features, id) {
						t.Errorf("%s: %s%s requires %s, which cpuid does not know, or the gate does not ask for", file, name, isa, need)
					}
				}
			}
		}
	}
	if kernels == 0 || kernels != stubs {
		t.Errorf("found %d kernels and %d stubs", kernels, stubs)
	}
}

// A gate asks cpuid and x/sys/cpu for the same features, and needs both to have them.
func TestGatesAskTwice(t *testing.T) {
	for _, g := range gates {
		if len(g.features) != len(g.enabled) {
			t.Fatalf("%s: %d features for cpuid, %d for x/sys/cpu", g.impl, len(g.features), len(g.enabled))
		}
		if needs := Needs(g.impl); !slices.EqualFunc(needs, g.features, func(f Feature, id cpuid.FeatureID) bool { return f.Name == id.String() }) {
			t.Fatalf("%v needs %v, and its gate asks for %v", g.impl, needs, g.features)
		}
		closed := func(i int, what string) {
			t.Helper()
			if runs(g.impl) || Needs(g.impl)[i].Has {
				t.Errorf("%s: the gate is open without %s of %s", g.impl, g.features[i], what)
			}
		}
		for i, enabled := range g.enabled {
			saved := *enabled
			*enabled = false
			closed(i, "x/sys/cpu")
			*enabled = saved
			if id := g.features[i]; cpuid.CPU.Supports(id) {
				cpuid.CPU.Disable(id)
				closed(i, "cpuid")
				cpuid.CPU.Enable(id)
			}
		}
	}
}
