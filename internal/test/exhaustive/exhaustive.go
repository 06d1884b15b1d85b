// Package exhaustive runs tests over all inputs there are: minutes of work, cut
// into blocks that all cores share. It has an independent reference for cosines
// and sines too. Only tests and bench import it.
//
//	POSENC_EXHAUSTIVE=1 go test -v -timeout 0 -run Exhaustive ./...         everything
//	POSENC_EXHAUSTIVE=1/1000 go test -v -timeout 0 -run Exhaustive ./...    one block of 1000
//
// An environment variable, since go test hands a flag to the tests of every
// package, which fail where they do not define it.
package exhaustive

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const variable = "POSENC_EXHAUSTIVE"

// share says which blocks are tested: one of every share neighbours, none for 0.
type share int

func parseShare(value string) (share, error) {
	switch value {
	case "":
		return 0, nil
	case "1":
		return 1, nil
	}
	of, found := strings.CutPrefix(value, "1/")
	n, err := strconv.Atoi(of)
	if !found || err != nil || n < 1 {
		return 0, fmt.Errorf("%s=%s: expected 1, or 1/N for one block of N", variable, value)
	}
	return share(n), nil
}

// selected is the share that the environment asks for.
func selected(t *testing.T) share {
	t.Helper()
	s, err := parseShare(os.Getenv(variable))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// blocks returns the chosen ones of n, at least one: any one of every s
// neighbours, so that the choice has no rhythm in common with the leg.
func (s share) blocks(n int) []int {
	var list []int
	for first := 0; first < n; first += int(s) {
		width := uint64(min(int(s), n-first))
		list = append(list, first+int(uint64(first+1)*0x9e3779b97f4a7c15>>32%width))
	}
	return list
}

// Leg is a set of inputs in blocks, each of which is checked by itself.
type Leg struct {
	Name   string   // with what else the result depends on, besides the code
	Blocks int      // how many there are
	Counts []string // what a block counts, for the report

	// Worker returns what checks a block and adds to the counts. It runs once
	// for each core, whose test t is: a wrong result is an error of t.
	Worker func(t *testing.T) func(block int, counts []int64)
}

// SkipUnlessAsked is the first call of an exhaustive test.
func SkipUnlessAsked(t *testing.T) {
	t.Helper()
	if selected(t) == 0 {
		t.Skip("NOT RUN: it takes minutes: " + variable + "=1 go test -v -timeout 0 -run Exhaustive ./...")
	}
}

const progressEvery = 10 * time.Second

// Run checks the chosen blocks of a leg and logs how far it is, and in the end
// what was counted.
func Run(t *testing.T, leg Leg) {
	t.Helper()
	chosen := selected(t).blocks(leg.Blocks)
	start := time.Now()
	var next atomic.Int64
	var failed atomic.Bool
	var mutex sync.Mutex
	done, sums, said := 0, make([]int64, len(leg.Counts)), start
	finish := func(counts []int64) {
		mutex.Lock()
		defer mutex.Unlock()
		for i, n := range counts {
			sums[i] += n
		}
		done++
		if now := time.Now(); now.Sub(said) > progressEvery {
			said = now
			t.Logf("%s: %.0f %% after %.0f s", leg.Name, 100*float64(done)/float64(len(chosen)), now.Sub(start).Seconds())
		}
	}
	t.Run("workers", func(t *testing.T) {
		for range runtime.GOMAXPROCS(0) {
			t.Run("worker", func(t *testing.T) {
				t.Parallel()
				defer func() {
					if t.Failed() {
						failed.Store(true)
					}
				}()
				check := leg.Worker(t)
				for !failed.Load() {
					i := int(next.Add(1)) - 1
					if i >= len(chosen) {
						return
					}
					counts := make([]int64, len(leg.Counts))
					check(chosen[i], counts)
					if t.Failed() {
						return
					}
					finish(counts)
				}
			})
		}
	})
	var report strings.Builder
	for i, name := range leg.Counts {
		fmt.Fprintf(&report, "%d %s, ", sums[i], name)
	}
	t.Logf("%s: %s%d of %d blocks, %.1f s", leg.Name, report.String(), done, leg.Blocks, time.Since(start).Seconds())
}
