package main

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/bench/measure"
)

// shared is work that is cut into equal ranges of tokens, one per goroutine. The
// goroutines are started anew by every call.
type shared struct {
	operation string
	tokens    int
}

func sharedWork(s setting) []shared {
	var list []shared
	for _, tokens := range s.tokens {
		if tokens > 1 {
			list = append(list, shared{"rotate", tokens})
		}
	}
	for _, rows := range s.peerRows {
		list = append(list, shared{"tables", rows})
	}
	return list
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

func (w shared) title() string {
	if w.operation == "rotate" {
		return fmt.Sprintf("Rotate, half-split, float32, %d tokens", w.tokens)
	}
	return fmt.Sprintf("CosSin, exact, %d rows", w.tokens)
}

// bytes are those that a call moves.
func (w shared) bytes() int {
	if w.operation == "rotate" {
		return rotation{w.tokens, headDim, posenc.HalfSplit, "f32"}.bytes()
	}
	return table{w.tokens, posenc.ExactAngles}.bytes()
}

func (w shared) name(goroutines int) string {
	return fmt.Sprintf("Goroutines/op=%s/tokens=%d/goroutines=%d", w.operation, w.tokens, goroutines)
}

func (w shared) measured(goroutines int, m *memory) measure.Case {
	rotary := must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Base: base}))
	positions := sequence(w.tokens)
	var part func(first, end int) error
	if w.operation == "rotate" {
		q, k := m.float32s[:w.tokens*queryHeads*headDim], m.float32s[w.tokens*queryHeads*headDim:]
		part = func(first, end int) error {
			return posenc.Rotate(rotary.At(positions[first:end]),
				posenc.View[float32]{Data: q[first*queryHeads*headDim : end*queryHeads*headDim], Heads: queryHeads},
				posenc.View[float32]{Data: k[first*keyHeads*headDim : end*keyHeads*headDim], Heads: keyHeads})
		}
	} else {
		cos, sin := m.tableHalves(w.tokens)
		part = func(first, end int) error {
			return rotary.CosSin(cos[first*pairs:end*pairs], sin[first*pairs:end*pairs], positions[first:end])
		}
	}
	errs := make([]error, goroutines)
	run := func() error {
		var group sync.WaitGroup
		for i := range goroutines {
			group.Go(func() { errs[i] = part(w.tokens*i/goroutines, w.tokens*(i+1)/goroutines) })
		}
		group.Wait()
		return errors.Join(errs...)
	}
	return measure.Case{Name: w.name(goroutines), Bytes: int64(w.bytes()), Run: run}
}
