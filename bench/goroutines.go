package main

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/measure"
)

// shared is work that is cut into equal ranges of tokens, one per goroutine. The
// goroutines are started anew by every call.
type shared struct {
	operation, title string
	tokens           int
	bytes            int // that a call moves
	part             func(m *memory, positions []int32, first, end int) error
}

func sharedWork(s setting) []shared {
	rotary := must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit, Base: base}))
	var list []shared
	for _, tokens := range s.shared {
		bytes := rotation{tokens, headDim, posenc.HalfSplit, "f32"}.bytes()
		list = append(list, shared{"rotate", fmt.Sprintf("Rotate, half-split, float32, %d tokens", tokens), tokens, bytes, func(m *memory, positions []int32, first, end int) error {
			q, k := m.float32s[:tokens*queryHeads*headDim], m.float32s[tokens*queryHeads*headDim:]
			return posenc.Rotate(rotary.At(positions[first:end]),
				posenc.View[float32]{Data: q[first*queryHeads*headDim : end*queryHeads*headDim], Heads: queryHeads},
				posenc.View[float32]{Data: k[first*keyHeads*headDim : end*keyHeads*headDim], Heads: keyHeads})
		}})
	}
	for _, rows := range s.peerRows {
		bytes := table{rows, frequency.Exact}.bytes()
		list = append(list, shared{"tables", fmt.Sprintf("CosSin, exact, %d rows", rows), rows, bytes, func(m *memory, positions []int32, first, end int) error {
			cos, sin := m.tableHalves(rows)
			return rotary.CosSin(cos[first*pairs:end*pairs], sin[first*pairs:end*pairs], positions[first:end])
		}})
	}
	return list
}

// pays returns the bytes of the first of a list from which on n goroutines take at most nine tenths
// of the time of one, or 0.
func pays(list []shared, n int, r results) (bytes int) {
	for _, x := range list {
		switch {
		case !(r.time(x.name(n)) <= 0.9*r.time(x.name(1))):
			bytes = 0
		case bytes == 0:
			bytes = x.bytes
		}
	}
	return bytes
}

// goroutineCounts are the powers of two up to the number of goroutines that run at
// once, and that.
func goroutineCounts() []int {
	var counts []int
	most := runtime.GOMAXPROCS(0)
	for n := 1; n < most; n *= 2 {
		counts = append(counts, n)
	}
	return append(counts, most)
}

func goroutineCases(s setting) []measure.Case {
	m := allocate(s, true)
	var cases []measure.Case
	for _, w := range sharedWork(s) {
		for _, n := range goroutineCounts() {
			cases = append(cases, w.measured(n, m))
		}
	}
	return cases
}

func (w shared) name(goroutines int) string {
	return fmt.Sprintf("Goroutines/op=%s/tokens=%d/goroutines=%d", w.operation, w.tokens, goroutines)
}

func (w shared) measured(goroutines int, m *memory) measure.Case {
	positions := sequence(w.tokens)
	errs := make([]error, goroutines)
	run := func() error {
		var group sync.WaitGroup
		for i := range goroutines {
			group.Go(func() { errs[i] = w.part(m, positions, w.tokens*i/goroutines, w.tokens*(i+1)/goroutines) })
		}
		group.Wait()
		return errors.Join(errs...)
	}
	return measure.Case{Name: w.name(goroutines), Bytes: int64(w.bytes), Run: run}
}
