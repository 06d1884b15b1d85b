package posenc_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// Caches of keys beyond 8 MiB are written by non-temporal stores: the bits are those
// of small pieces. Sequences and heads that lie apart are for TestCases/fences.
func TestRotateIntoNonTemporal(t *testing.T) {
	t.Run("float32", testRotateIntoNonTemporal[float32, float32])
	if !testkit.AllRounds() {
		return
	}
	t.Run("float16", testRotateIntoNonTemporal[posenc.Float16, float32])
	t.Run("bfloat16", testRotateIntoNonTemporal[posenc.BFloat16, float32])
	t.Run("float16 to float16", testRotateIntoNonTemporal[posenc.Float16, posenc.Float16])
	t.Run("bfloat16 to float16", testRotateIntoNonTemporal[posenc.Float16, posenc.BFloat16])
}

func testRotateIntoNonTemporal[D, S posenc.Element](t *testing.T) {
	elementSize := int(unsafe.Sizeof(*new(D)))
	size := (8<<20 + 8<<17) / elementSize
	source := slices.Repeat(testkit.RandomElements[S](testkit.NewRand(61), size/16), 16)
	for name, shape := range map[string]struct{ heads, dim, rotaryDim, offset, skipped int }{
		"few heads":               {5, 112, 64, 16, 0},
		"half a vector on":        {5, 112, 64, 16, 16},   // too little for non-temporal stores
		"one head":                {1, 4096, 64, 4032, 0}, // all of the scratch memory, with 16 bits
		"heads that do not fit":   {3, 1040, 1024, 16, 0},
		"more heads than fit":     {100, 32, 16, 16, 0},
		"a head that may not fit": {2, 4096, 2048, 100, 0},
		"whole heads":             {40, 128, 128, 0, 0},
		"the end of heads":        {40, 128, 100, 28, 0},
	} {
		heads, dim, skip := shape.heads, shape.dim, shape.skipped/elementSize
		tokens := size / (heads * dim)
		slots := testkit.Sequence(tokens)
		slots[17], slots[18], slots[19] = -1, 40, 19
		positions, src := testkit.Sequence(tokens), source[:tokens*heads*dim]
		large := func(t *testing.T, impl kernels.Implementation) {
			layouts := []posenc.Layout{posenc.Interleaved, posenc.InterleavedToHalfSplit}
			if shape.rotaryDim == dim {
				layouts = []posenc.Layout{posenc.HalfSplit}
			}
			for _, layout := range layouts {
				cfg := posenc.RotaryConfig{HeadDim: dim, RotaryDim: shape.rotaryDim, Offset: shape.offset, Layout: layout}
				r := testkit.MustRotary(cfg)
				whole, parts := make([]D, len(src)+skip)[skip:], make([]D, len(src))
				testkit.NoError(t, posenc.RotateInto(r.At(positions), posenc.View[D]{Data: whole, Heads: heads}, slots, posenc.View[S]{Data: src, Heads: heads}))
				for first := 0; first < tokens; first += 100 {
					last := min(first+100, tokens)
					part := posenc.View[S]{Data: src[first*heads*dim : last*heads*dim], Heads: heads}
					testkit.NoError(t, posenc.RotateInto(r.At(positions[first:last]), posenc.View[D]{Data: parts, Heads: heads}, slots[first:last], part))
				}
				if slices.Equal(testkit.BytesOf(whole), testkit.BytesOf(parts)) {
					continue // without a look at each element
				}
				if i := testkit.FirstDifference(whole, parts); i >= 0 {
					t.Fatalf("%+v: element %d of token %d is %v at once and %v in parts", cfg, i%(heads*dim), i/(heads*dim), testkit.Widen(whole[i]), testkit.Widen(parts[i]))
				}
			}
		}
		t.Run(name, func(t *testing.T) { testkit.EachImplementation(t, large) })
	}
}

// Where a call that writes by non-temporal stores comes to its fence, everything is
// written, also where it is one of several of a table or of keys that goroutines write. The
// fence is made to fault: there the call stops. A call that returns an error writes nothing
// and comes to no fence. That each function has its fence is for TestCases/fences.
func TestNonTemporalCallsEndWithFence(t *testing.T) {
	if testkit.Fuzzing() {
		t.Skip("NOT TESTED: fuzzing changes the wrappers")
	}
	const pairs, rows = 64, kernels.NonTemporalTable / 64
	rope, positions := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 2 * pairs, Layout: posenc.HalfSplit, Base: 10000}), testkit.Sequence(2*rows)
	memory, source := testkit.Aligned(4*rows*pairs), testkit.Aligned(2*rows*pairs)
	cos, sin := memory[:2*rows*pairs], memory[2*rows*pairs:]
	keys := func(s []float32) posenc.View[float32] { return posenc.View[float32]{Data: s, Heads: 1} }
	for name, call := range map[string]struct {
		tokens int
		write  func(first, count int) error
		refuse func() error
	}{
		"Rotary.CosSin": {
			2 * rows,
			func(first, count int) error {
				return rope.CosSin(cos[first*pairs:][:count*pairs], sin[first*pairs:][:count*pairs], positions[first:][:count])
			},
			func() error { return rope.CosSin(cos, sin[1:], positions) },
		},
		"RotateInto": {
			rows,
			func(first, count int) error {
				at, n := first*2*pairs, count*2*pairs
				return posenc.RotateInto(rope.At(positions[first:][:count]), keys(cos[at:][:n]), nil, keys(source[at:][:n]))
			},
			func() error {
				return posenc.RotateInto(rope.At(positions[:rows]), keys(cos), testkit.Sequence(rows-1), keys(cos))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
				if impl == kernels.Generic || name == "Rotary.CosSin" && !impl.NonTemporalTable(len(memory)/2) {
					t.Skip("plain Go has no non-temporal stores, and AVX2 none for a table of this size")
				}
				clear(memory)
				testkit.NoError(t, call.write(0, call.tokens))
				want := slices.Clone(memory)
				for _, parts := range []int{1, 2} {
					clear(memory)
					restore := testkit.TrapFences(t)
					stopped := make([][]string, parts)
					var group sync.WaitGroup
					group.Add(parts)
					for i := range parts {
						go func() {
							defer group.Done()
							_, stopped[i] = testkit.Fault(func() {
								if err := call.write(i*call.tokens/parts, call.tokens/parts); err != nil {
									t.Error(err)
								}
							})
						}()
					}
					group.Wait()
					restore()
					for i, functions := range stopped {
						if !slices.ContainsFunc(functions, func(f string) bool { return strings.Contains(f, "FenceStores") }) {
							t.Errorf("part %d of %d came to no fence: %s", i, parts, functions)
						}
					}
					if i := testkit.FirstDifference(memory, want); i >= 0 {
						t.Errorf("in %d parts: number %d is not written", parts, i)
					}
				}
				clear(memory)
				restore := testkit.TrapFences(t)
				reason, _ := testkit.Fault(func() {
					if call.refuse() == nil {
						t.Error("no error")
					}
				})
				restore()
				if reason != nil || slices.ContainsFunc(memory, func(x float32) bool { return x != 0 }) {
					t.Errorf("a call with an error: %v, or something is written", reason)
				}
			})
		})
	}
}
