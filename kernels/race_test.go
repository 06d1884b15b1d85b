//go:build race && !purego && (amd64 || arm64)

package kernels_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/internal/test/operations"
	"github.com/go-posenc/posenc/kernels"
)

const racesVariable = "POSENC_TEST_RACES"

// The race detector sees all that assembly reads and writes, and nothing else. A process of
// its own tries it, since a test fails in which the detector reports something.
func TestRaces(t *testing.T) {
	if os.Getenv(racesVariable) != "" {
		for _, o := range everyOperation() {
			for _, impl := range kit.Supported() {
				if strings.HasPrefix(o.Runs[impl], "asm.") {
					races(o, func(a *operations.Arguments) { o.Call(impl, a) }, impl.String())
				}
			}
		}
		fmt.Println("complete")
		os.Exit(1)
	}
	reports := filepath.Join(t.TempDir(), "reports")
	program := exec.Command(kit.Must(os.Executable()), "-test.run=^TestRaces$")
	program.Env = append(os.Environ(), racesVariable+"=1", "GORACE=suppress_equal_stacks=0 suppress_equal_pcs=0 log_path="+reports)
	output, err := program.CombinedOutput()
	if !bytes.Contains(output, []byte("complete\n")) || bytes.Contains(output, []byte("WRONG")) {
		t.Errorf("%v\n%s", err, output)
	}
}

// races prints what the race detector reports of a call beside another access that it should
// not, and what it should and does not.
func races(o *operations.Operation, call func(a *operations.Arguments), impl string) {
	// The detector reports nothing more of memory of which it has reported something: each
	// try has memory of its own.
	expect := func(report bool, what string, s *operations.Slice, access func(memory []byte, rows []int)) {
		a, memory, rows := placed(o, s)
		if reported(func() { call(a) }, func() { access(memory, rows) }) != report {
			fmt.Printf("WRONG: %s on %s: a report of what %s %s: %t\n", o.Name, impl, what, s.Name, !report)
		}
	}
	for i := range o.Slices {
		s := &o.Slices[i]
		if _, _, rows := placed(o, s); len(rows) == 0 {
			continue // ids that are nil
		}
		expect(false, "writes around", s, func(memory []byte, rows []int) {
			used := make([]bool, len(memory))
			for _, i := range rows {
				used[i] = true
			}
			for i := range memory {
				if !used[i] {
					store(&memory[i])
				}
			}
		})
		for at, part := range map[string]func(rows []int) int{
			"the first byte":  func(rows []int) int { return rows[0] },
			"the middle byte": func(rows []int) int { return rows[len(rows)/2] },
			"the last byte":   func(rows []int) int { return rows[len(rows)-1] },
		} {
			expect(true, "writes "+at+" of", s, func(memory []byte, rows []int) { store(&memory[part(rows)]) })
			expect(s.Written, "reads "+at+" of", s, func(memory []byte, rows []int) { load(&memory[part(rows)]) })
		}
	}
}

// placed returns always the same call, with the memory that s is in and where in it the
// bytes of its rows are.
func placed(o *operations.Operation, s *operations.Slice) (a *operations.Arguments, memory []byte, rows []int) {
	for r := kit.NewRand(1); ; {
		p := o.Problem(r, kernels.Width, false)
		if o.Has("slope") {
			p.Number["first"] = 0 // plain Go runs for distances that float32 does not count
		}
		a = o.Place(r, p, func(of *operations.Slice, n int) (all, part []byte) {
			all, part = operations.Padded(r, o)(of, n)
			if of.Name == s.Name {
				memory = all
			}
			return all, part
		})
		list := []*operations.Arguments{a}
		if p.Split != nil {
			list = p.Split(a)
		}
		if len(list) == 0 || p.InPlace {
			continue
		}
		for _, row := range list {
			for _, part := range [][]byte{row.Memory[s.Name], row.Memory[s.Name+"2"]} {
				for i := range part {
					rows = append(rows, operations.Offset(memory, part)+i)
				}
			}
		}
		return a, memory, rows
	}
}

//go:noinline
func store(p *byte) { *p = 1 }

//go:noinline
func load(p *byte) byte { return *p }

// reported says whether the detector reports something of f and of g after it, of which it
// does not know that they follow one another. Both goroutines live until the end: one that
// begins where another ended may pass for it.
func reported(f, g func()) bool {
	before := runtime.RaceErrors()
	var first, both, ended sync.WaitGroup
	first.Add(1)
	both.Add(2)
	ended.Add(2)
	finish := func() {
		both.Done()
		both.Wait()
		ended.Done()
	}
	go func() {
		f()
		first.Done()
		finish()
	}()
	go func() {
		runtime.RaceDisable()
		first.Wait()
		runtime.RaceEnable()
		g()
		finish()
	}()
	ended.Wait()
	return runtime.RaceErrors() > before
}
