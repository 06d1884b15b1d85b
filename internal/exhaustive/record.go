package exhaustive

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// record remembers the blocks of a leg that are done: a line of a file for each,
// which says the leg, the block, the time and the CPU time since the line before
// it, in nanoseconds, and what was counted.
type record struct {
	leg       Leg
	file      *os.File // nil where nothing can be remembered
	mutex     sync.Mutex
	done      map[int]bool
	found     int // chosen ones of earlier runs
	sums      []int64
	time, cpu time.Duration

	last    time.Time
	lastCPU time.Duration
}

// openRecord reads what earlier runs left in a file, which no path stands for.
func openRecord(t *testing.T, path string, leg Leg, chosen []int) *record {
	t.Helper()
	r := &record{leg: leg, done: map[int]bool{}, sums: make([]int64, len(leg.Counts)), last: time.Now(), lastCPU: cpuTime()}
	if path == "" {
		return r
	}
	var err error
	r.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r.file)
	if err != nil {
		t.Fatal(err)
	}
	if len(content) > 0 && content[len(content)-1] != '\n' { // it was killed as it wrote
		fmt.Fprintln(r.file)
	}
	isChosen := map[int]bool{}
	for _, block := range chosen {
		isChosen[block] = true
	}
	for line := range strings.Lines(string(content)) {
		block, times, counts, ok := r.parse(line)
		if ok && isChosen[block] && !r.done[block] {
			r.done[block] = true
			r.found++
			r.count(times, counts)
		}
	}
	return r
}

// recordPath returns the path of the record of this executable, whose hash is its
// name, so that another build starts anew; the records of others are removed.
func recordPath() (string, error) {
	folder, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	executable, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer executable.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, executable); err != nil {
		return "", err
	}
	folder = filepath.Join(folder, "posenc-exhaustive")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(folder, fmt.Sprintf("%x.txt", hash.Sum(nil)))
	others, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	for _, other := range others {
		if other != path {
			os.Remove(other) // or not, where another run has it open
		}
	}
	return path, err
}

// parse takes a line apart; ok is false where it is of another leg or not whole.
func (r *record) parse(line string) (block int, times [2]time.Duration, counts []int64, ok bool) {
	rest, ok := strings.CutPrefix(line, strconv.Quote(r.leg.Name)+" ")
	rest, whole := strings.CutSuffix(rest, " .\n")
	if !ok || !whole {
		return 0, times, nil, false
	}
	var numbers []int64
	for field := range strings.FieldsSeq(rest) {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, times, nil, false
		}
		numbers = append(numbers, n)
	}
	if len(numbers) != 3+len(r.leg.Counts) {
		return 0, times, nil, false
	}
	return int(numbers[0]), [2]time.Duration{time.Duration(numbers[1]), time.Duration(numbers[2])}, numbers[3:], true
}

func (r *record) count(times [2]time.Duration, counts []int64) {
	r.time += times[0]
	r.cpu += times[1]
	for i, n := range counts {
		r.sums[i] += n
	}
}

// left returns the chosen blocks that are not done.
func (r *record) left(chosen []int) []int {
	var list []int
	for _, block := range chosen {
		if !r.done[block] {
			list = append(list, block)
		}
	}
	return list
}

// add remembers a block. Workers may call it at the same time.
func (r *record) add(t *testing.T, block int, counts []int64) {
	t.Helper()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	now, cpu := time.Now(), cpuTime()
	times := [2]time.Duration{now.Sub(r.last), cpu - r.lastCPU}
	r.last, r.lastCPU = now, cpu
	r.count(times, counts)
	r.done[block] = true
	if r.file == nil {
		return
	}
	numbers := append([]int64{int64(block), int64(times[0]), int64(times[1])}, counts...)
	if _, err := fmt.Fprintf(r.file, "%q %s .\n", r.leg.Name, strings.Trim(fmt.Sprint(numbers), "[]")); err != nil {
		t.Fatal(err)
	}
}

// report says what was done, in this run and in those before it.
func (r *record) report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", r.leg.Name)
	for i, name := range r.leg.Counts {
		fmt.Fprintf(&b, "%d %s, ", r.sums[i], name)
	}
	fmt.Fprintf(&b, "%d of %d blocks", len(r.done), r.leg.Blocks)
	if r.found > 0 {
		fmt.Fprintf(&b, " (%d in earlier runs)", r.found)
	}
	fmt.Fprintf(&b, ", %.1f s", r.time.Seconds())
	if r.cpu > 0 {
		fmt.Fprintf(&b, ", %.1f s of CPU", r.cpu.Seconds())
	}
	return b.String()
}

func (r *record) close() {
	if r.file != nil {
		r.file.Close()
	}
}
