package main

import (
	"fmt"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/measure"
)

// rotation is a call of posenc.Rotate on Q and K: cosines and sines made on the
// fly, then rotated by them.
type rotation struct {
	tokens, rotaryDim int
	layout            posenc.Layout
	element           string // f32, f16, bf16
}

func rotations(s setting) []rotation {
	var list []rotation
	for _, tokens := range s.tokens {
		for _, layout := range layouts {
			for _, rotaryDim := range []int{headDim, headDim / 2} {
				for _, element := range []string{"f32", "f16", "bf16"} {
					list = append(list, rotation{tokens, rotaryDim, layout, element})
				}
			}
		}
	}
	return list
}

func (r rotation) name(implementation string) string {
	return fmt.Sprintf("Rotate/tokens=%d/heads=%d+%d/dim=%d/rotary=%d/layout=%s/dtype=%s/impl=%s",
		r.tokens, queryHeads, keyHeads, headDim, r.rotaryDim, layoutName(r.layout), r.element, implementation)
}

// bytes are those that are rotated, each once.
func (r rotation) bytes() int {
	elements := r.tokens * (queryHeads + keyHeads) * r.rotaryDim
	if r.element == "f32" {
		return 4 * elements
	}
	return 2 * elements
}

func (r rotation) measured(implementation string, m *memory) measure.Case {
	var run func() error
	switch r.element {
	case "f32":
		run = rotateCall(r, m.float32s)
	case "f16":
		run = rotateCall(r, m.float16s)
	case "bf16":
		run = rotateCall(r, m.bfloat16s)
	}
	return measure.Case{Name: r.name(implementation), Bytes: int64(r.bytes()), Run: run}
}

func rotateCall[T posenc.Element](r rotation, buffer []T) func() error {
	rotary := must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, RotaryDim: r.rotaryDim, Layout: r.layout, Base: base}))
	positions := sequence(r.tokens)
	q := posenc.View[T]{Data: buffer[:r.tokens*queryHeads*headDim], Heads: queryHeads}
	k := posenc.View[T]{Data: buffer[r.tokens*queryHeads*headDim:][:r.tokens*keyHeads*headDim], Heads: keyHeads}
	return func() error { return posenc.Rotate(rotary.At(positions), q, k) }
}

// sequence returns n positions, which for a single token is one far from 0.
func sequence(n int) []int32 {
	if n == 1 {
		return []int32{4321}
	}
	positions := make([]int32, n)
	for i := range positions {
		positions[i] = int32(i)
	}
	return positions
}

// memory is what the cases work on, shared since only one runs at a time. Every
// type has its own: the bits of one could be subnormal numbers of another, which
// some CPUs take long for.
type memory struct {
	float32s  []float32
	float16s  []posenc.Float16
	bfloat16s []posenc.BFloat16
}

// gap is between the halves of a table. Two streams of stores whose distance is
// near a power of two may meet in the same banks of memory: 128 MiB and 4 KiB
// halves the speed of an EPYC of family 25.
const gap = 65 << 10

// allocate returns memory that suffices for the setting, all elements 1.
func allocate(s setting, everything bool) *memory {
	rotated := (queryHeads + keyHeads) * headDim
	singles, halves := 0, 0
	for _, tokens := range s.tokens {
		singles, halves = max(singles, tokens*rotated), max(halves, tokens*rotated)
	}
	for _, tokens := range s.shared {
		singles = max(singles, tokens*rotated)
	}
	for _, rows := range s.rows {
		singles = max(singles, 2*rows*pairs+gap)
	}
	if everything {
		for _, bytes := range s.workingSets {
			singles, halves = max(singles, bytes/4+gap), max(halves, bytes/2)
		}
		for _, rows := range s.peerRows {
			singles = max(singles, 2*rows*pairs+gap)
		}
		singles = max(singles, s.prefill*queryHeads*headDim, 3*comparedAngles)
	}
	return &memory{ones[float32](singles), ones[posenc.Float16](halves), ones[posenc.BFloat16](halves)}
}

// ones returns n elements that are 1, from the start of a cache line on.
func ones[T posenc.Element](n int) []T {
	s := aligned[T](n)
	switch s := any(s).(type) {
	case []float32:
		fill(s, 1)
	case []posenc.Float16:
		fill(s, 0x3c00)
	case []posenc.BFloat16:
		fill(s, 0x3f80)
	}
	return s
}

// aligned returns n elements that start on a cache line of at most 128 bytes.
func aligned[T posenc.Element](n int) []T {
	const line = 128
	size := int(unsafe.Sizeof(*new(T)))
	s := make([]T, n+line/size)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(s)))) & (line - 1) / size
	return s[skip:][:n:n]
}

func fill[T any](s []T, value T) {
	for i := range s {
		s[i] = value
	}
}
