package testkit

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// storeLog is a variable of the environment to which kernels of buildLogged add: S where
// non-temporal stores begin, F for a fence.
const (
	storeLog     = "POSENC_STORES"
	nothingSoFar = "stores:"
)

// storingShapes are beyond the thresholds of buildLogged, and such that rows are aligned.
var storingShapes = []largeShape{{64, 130, 1}, {16, 520, 1}, {64, 9, 20}, {256, 33, 1}}

// checkFences makes calls of every case in a program of buildLogged, on every
// implementation. One that writes by non-temporal stores ends with one fence and gives the
// results of any other; one that returns an error comes to neither. The cases say which
// functions have such stores.
func checkFences(t *testing.T) {
	if os.Getenv(storeLog) != "" {
		callLogged(t)
		return
	}
	if testing.Short() || runtime.GOOS != "linux" || len(dispatch.Supported()) < 2 {
		t.Skip("NOT TESTED: builds the package again, with kernels")
	}
	program := buildLogged(t)
	if out, err := runTest(program, t.Name(), storeLog+"="+nothingSoFar); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func callLogged(t *testing.T) {
	r := newCaseRunner(t)
	EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		_, has := impl.NonTemporalCopy()
		for i, c := range sortedCases() {
			if c.Call == nil || impl == kernels.Generic {
				continue
			}
			random, stored := NewRand(3000+uint64(i)), false
			for n := 0; n < 5*max(c.Times, 1) || has && c.NonTemporal && !stored; n++ {
				if n == 2000 {
					t.Errorf("no call of %s writes by non-temporal stores", c.Function)
					break
				}
				in := inputs{shape: make([]byte, 400), place: aligned, large: &storingShapes[n%len(storingShapes)]}
				for i := range in.shape {
					in.shape[i] = byte(random.Uint32())
				}
				if n%5 == 4 {
					in.place, in.large, in.data = anywhere, nil, in.shape[:32]
				}
				want := r.expect(t, &c, in)
				want.again()
				t.Setenv(storeLog, nothingSoFar)
				err := want.run(t, c.Function)
				switch log := strings.TrimPrefix(os.Getenv(storeLog), nothingSoFar); {
				case log == "SF" && err == nil:
					stored = true
				case log != "" && (log != "F" || err != nil):
					t.Fatalf("%s: non-temporal stores and fences, %s; error %v", c.Function, log, err)
				}
				r.check(t, c.Function, want.madeCall, err, want.after)
			}
			if stored && !c.NonTemporal {
				t.Errorf("%s writes by non-temporal stores: its case is to say so", c.Function)
			}
		}
	})
}

var (
	threshold = regexp.MustCompile(`(?mi)^(\t|const )(\w*nontemporal\w*) += .*`)
	storing   = regexp.MustCompile(`(?m)^\t+.*\basm\.\w*NonTemporal\w*\(`)
	fencing   = regexp.MustCompile(`(?m)^\t+.*\basm\.FenceStores\w*\(`)
)

// buildLogged builds the tests of the package in this folder with kernels that write
// storeLog, and non-temporal stores from few elements on: more than any scratch memory of
// rows.
func buildLogged(t *testing.T) (program string) {
	t.Helper()
	folder := filepath.Join(moduleFolder(), "kernels")
	tuning, bindings := filepath.Join(folder, "tuning.go"), filepath.Join(folder, "bind_"+runtime.GOARCH+".go")
	files := map[string][]byte{}
	for _, name := range []string{tuning, bindings} {
		files[name] = Must(os.ReadFile(name))
	}
	replace := func(name string, pattern *regexp.Regexp, by string) (found bool) {
		found = pattern.Match(files[name])
		files[name] = pattern.ReplaceAll(files[name], []byte(by))
		return found
	}
	if !replace(bindings, storing, "logStores(`S`)\n$0") {
		t.Skip("NOT TESTED: no kernel here has non-temporal stores")
	}
	if !replace(bindings, fencing, "logStores(`F`)\n$0") || !replace(tuning, threshold, fmt.Sprint("$1$2 = ", 4*kernels.Width*kernels.SinusoidalRowsAtOnce)) {
		t.Fatal("no fence, or no threshold of non-temporal stores")
	}
	replace(tuning, regexp.MustCompile(`(?m)^package kernels$`), "$0\n\nimport \"os\"")
	files[tuning] = fmt.Appendf(files[tuning], `
func logStores(event string) {
	log := os.Getenv(%[1]q)
	if event == "F" || log[len(log)-1] != 'S' {
		os.Setenv(%[1]q, log+event)
	}
}
`, storeLog)
	return buildWith(t, files)
}
