package kit

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// overlay says which slice of a call lies over which one that came before it, and how many
// bytes after its start.
type overlay struct{ slice, on, shift int }

// overlapping makes a right call in which two slices of any types share bytes. It does what
// the same call does to slices that lie apart and hold the same, or it is ErrOverlap.
func (r *caseRunner) overlapping(t testing.TB, impl kernels.Implementation, c *Case, in inputs) {
	t.Helper()
	defer dispatch.Use(impl)()
	apart := r.make(c, in)
	var some []int
	for i, s := range apart.slices {
		if len(s) > 0 {
			some = append(some, i)
		}
	}
	if len(some) < 2 {
		return
	}
	random := apart.R
	to := 1 + random.IntN(len(some)-1)
	over := overlay{slice: some[to], on: some[random.IntN(to)]}
	n, on := len(apart.slices[over.slice]), len(apart.slices[over.on])
	if random.IntN(6) > 0 {
		over.shift = random.IntN(n+on-1) - n + 1
	}
	held := cloneSlices(apart.slices)
	if random.IntN(2) == 0 { // which of the two holds what was meant
		held[over.slice] = nil
	} else {
		held[over.on] = nil
	}
	set := func(m *madeCall, held [][]byte) {
		for i, s := range held {
			copy(m.slices[i], s)
		}
		m.before = r.memory.save()
	}

	what := fmt.Sprintf("%s on %s, slice %d of %d bytes %d bytes after the start of slice %d of %d", c.Function, impl, over.slice, n, over.shift, over.on, on)
	overlaid := in
	overlaid.over = &over
	m := r.make(c, overlaid)
	set(m, held)
	held = cloneSlices(m.slices)
	err := m.run(t, what)
	var got [][]byte
	untouched := m.before.clone()
	if err == nil {
		results := m.written(t)
		got = cloneSlices(results)
		for _, s := range results {
			copy(untouched.at(r.memory, s), s)
		}
	} else if !WellFormed(err) {
		t.Errorf("%s: the error %q", what, err)
	}
	if at, arena := r.memory.differs(untouched); arena >= 0 {
		t.Fatalf("%s: byte %d of arena %d was written and is not to be; error %v", what, at, arena, err)
	}

	apart = r.make(c, in)
	set(apart, held)
	errApart := apart.run(t, what)
	if errApart != nil {
		if err == nil {
			t.Fatalf("%s: no error, apart %v", what, errApart)
		}
		return
	}
	if err != nil && !errors.Is(err, posenc.ErrOverlap) {
		t.Fatalf("%s: %v, apart no error", what, err)
	}
	for i, s := range apart.written(t) {
		if err == nil && !bytes.Equal(got[i], s) {
			t.Fatalf("%s: result %d is %x, apart %x", what, i, got[i], s)
		}
	}
}

// written returns what a call that has succeeded may have written to.
func (m *madeCall) written(t testing.TB) (all [][]byte) {
	for _, results := range m.results {
		results(&resultCheck{t: t, each: func(s []byte) { all = append(all, s) }})
	}
	return all
}

func cloneSlices(slices [][]byte) [][]byte {
	clones := make([][]byte, len(slices))
	for i, s := range slices {
		clones[i] = bytes.Clone(s)
	}
	return clones
}

// taken records a slice of the call of n elements at start of an arena, and returns it, or it
// where another one lies.
func taken[T any](a *Arguments, arena *argumentArena, start, n int) []T {
	bytes, over := arena.all[start:][:n*int(unsafe.Sizeof(*new(T)))], a.in.over
	if over != nil && over.slice == len(a.slices) {
		address := uintptr(unsafe.Pointer(unsafe.SliceData(a.slices[over.on]))) + uintptr(over.shift)
		for i := range a.memory.shared {
			arena := &a.memory.shared[i]
			first := uintptr(unsafe.Pointer(unsafe.SliceData(arena.all)))
			if start := int(address&^(unsafe.Alignof(*new(T))-1) - first); start >= 0 && start+len(bytes) <= len(arena.all) {
				bytes = arena.all[start:][:len(bytes)]
				arena.next = max(arena.next, start+len(bytes))
				break
			}
		}
	}
	a.slices = append(a.slices, bytes)
	return sliceOf[T](bytes, n)
}
