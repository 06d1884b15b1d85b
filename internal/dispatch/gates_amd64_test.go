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

var (
	textSymbol = regexp.MustCompile(`^TEXT ·(\w+)\(SB\)`)
	requires   = regexp.MustCompile(`^// Requires: (.*)$`)
	stub       = regexp.MustCompile(`(?m)^func \w+\(`)
	isaSuffix  = regexp.MustCompile(`(AVX2|AVX512)$`)
)

// The gate of an implementation has to ask for every feature that its kernels
// need: a missing one kills the program on a CPU without it.
func TestGatesCoverKernels(t *testing.T) {
	kernels, err := filepath.Glob("../../asm/*_amd64.s")
	bounds, err2 := filepath.Glob("../../asm/bound/*_amd64.s")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	files := append(kernels, bounds...)
	if len(files) == 0 {
		t.Skip("NOT TESTED: there is no source here, only the test binary")
	}
	gated := map[string][]cpuid.FeatureID{}
	for _, g := range gates {
		gated[strings.ToUpper(g.impl.String())] = g.features
	}
	symbols, stubs := 0, 0
	for _, file := range files {
		declarations, err := os.ReadFile(strings.TrimSuffix(file, "s") + "go")
		if err != nil {
			t.Fatal(err)
		}
		stubs += len(stub.FindAll(declarations, -1))
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var needs []string
		for line := range strings.Lines(string(text)) {
			if m := requires.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				needs = strings.Split(m[1], ", ")
			}
			m := textSymbol.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			symbols++
			isa := isaSuffix.FindString(m[1])
			features, ok := gated[isa]
			if !ok {
				t.Errorf("%s: %s belongs to no gate", file, m[1])
			}
			if len(needs) == 0 && m[1] != "FenceStoresAVX2" { // SFENCE is in every amd64
				t.Errorf("%s: %s has no line Requires", file, m[1])
			}
			for _, name := range needs {
				id := cpuid.ParseFeature(name)
				if id == cpuid.UNKNOWN {
					t.Errorf("%s: %s requires %s, which cpuid does not know", file, m[1], name)
				}
				if !slices.Contains(features, id) {
					t.Errorf("%s: %s requires %s, which the gate of %s does not ask for", file, m[1], name, isa)
				}
			}
			needs = nil
		}
	}
	if symbols == 0 || symbols != stubs {
		t.Errorf("found %d kernels in %v and %d stubs", symbols, files, stubs)
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
			if g.open() || Needs(g.impl)[i].Has {
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
