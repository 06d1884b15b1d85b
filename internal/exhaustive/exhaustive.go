// Package exhaustive runs tests over all inputs there are: minutes of work, cut
// into blocks, shared among all cores, with progress on the terminal. What is
// finished is remembered, so that a run that was interrupted, or that came near
// the deadline of go test, goes on where it stopped. It has an independent
// reference for cosines and sines too.
//
// Only tests import it. It defines the flag -exhaustive:
//
//	go test -run Exhaustive ./... -exhaustive           everything
//	go test -run Exhaustive ./... -exhaustive=1/1000    one block of 1000
//
// go test hands the flag to the tests of every package, so that each has to
// import this one.
package exhaustive

import (
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// share is the value of the flag: one block of every so many is run, or none.
type share int

var selected = defineFlag()

func defineFlag() *share {
	s := new(share)
	flag.Var(s, "exhaustive", "run the exhaustive tests, or with `1/N` one block of N of each")
	return s
}

func (s *share) String() string { return "1/" + strconv.Itoa(int(*s)) }

// IsBoolFlag lets -exhaustive stand without a value.
func (s *share) IsBoolFlag() bool { return true }

func (s *share) Set(value string) error {
	switch value {
	case "true":
		*s = 1
		return nil
	case "false":
		*s = 0
		return nil
	}
	of, found := strings.CutPrefix(value, "1/")
	n, err := strconv.Atoi(of)
	if !found || err != nil || n < 1 {
		return errors.New("want nothing, or 1/N for one block of N")
	}
	*s = share(n)
	return nil
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
	Name   string   // with whatever the result holds for, besides the code
	Blocks int      // how many there are
	Counts []string // what a block counts, for the report

	// Worker returns what checks a block and adds to the counts. It runs once
	// for each core, whose test t is: a wrong result is an error of t.
	Worker func(t *testing.T) func(block int, counts []int64)
}

// beforeDeadline is the time to leave for the blocks at hand and for the report.
const beforeDeadline = 20 * time.Second

// SkipWithoutFlag is the first call of an exhaustive test.
func SkipWithoutFlag(t *testing.T) {
	t.Helper()
	if *selected == 0 {
		t.Skip("NOT RUN: it takes minutes: go test -v -run Exhaustive ./... -exhaustive")
	}
}

// Run checks the blocks of a leg that no run of this executable has checked
// before, and fails the test where blocks are left when the deadline is near.
func Run(t *testing.T, leg Leg) {
	t.Helper()
	chosen := selected.blocks(leg.Blocks)
	path, err := recordPath()
	if err != nil {
		t.Logf("nothing is remembered for another run: %v", err)
	}
	log := openRecord(t, path, leg, chosen)
	defer log.close()
	left := log.left(chosen)
	deadline, limited := t.Deadline()
	var next, done atomic.Int64
	var failed atomic.Bool
	progress := startProgress(leg.Name, len(chosen), len(left), &done)
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
				for !failed.Load() && !(limited && time.Until(deadline) < beforeDeadline) {
					i := int(next.Add(1)) - 1
					if i >= len(left) {
						return
					}
					counts := make([]int64, len(leg.Counts))
					check(left[i], counts)
					if t.Failed() {
						return
					}
					log.add(t, left[i], counts)
					done.Add(1)
				}
			})
		}
	})
	progress.stop()
	fmt.Fprintln(t.Output(), log.report())
	if rest := len(left) - int(done.Load()); rest > 0 && !t.Failed() {
		t.Fatalf("NOT FINISHED: %d of %d blocks are left, nothing was wrong so far: run it again to go on, or with -timeout 0", rest, len(chosen))
	}
}

// progress prints how far a leg is, now and then.
type progress struct {
	quit chan struct{}
	wait sync.WaitGroup
}

func startProgress(name string, chosen, left int, done *atomic.Int64) *progress {
	const every = 5 * time.Second
	p := &progress{quit: make(chan struct{})}
	start := time.Now()
	p.wait.Go(func() {
		terminal := openTerminal()
		defer terminal.Close()
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-p.quit:
				return
			case <-ticker.C:
			}
			n := int(done.Load())
			rest := "?"
			if n > 0 {
				rest = time.Duration(float64(time.Since(start)) / float64(n) * float64(left-n)).Round(time.Second).String()
			}
			fmt.Fprintf(terminal, "exhaustive: %s: %.1f %%, %s to go\n", name, 100*float64(chosen-left+n)/float64(chosen), rest)
		}
	})
	return p
}

func (p *progress) stop() {
	close(p.quit)
	p.wait.Wait()
}
