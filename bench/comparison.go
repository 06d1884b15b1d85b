package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/bench/peers"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/test/measure"
	"github.com/go-posenc/posenc/kernels"
)

// comparison is one thing that posenc and some peers compute.
type comparison struct {
	operation string
	title     string
	unit      string  // what a figure is per
	count     int     // of those in a call
	bytes     int     // that a call moves
	rows      int     // of tables, if it is them
	angles    float32 // bound of the magnitude of angles, if they are the input

	computedBy func(p *peers.Peer) bool
	call       func(p *peers.Peer, m *memory) func()
}

// manyRows are more than what computes one number at a time is measured on: a call
// takes seconds.
const manyRows = 1 << 20

// comparedAngles are as many as stay in a cache of 64 KiB.
const comparedAngles = 4096

func comparisons(s setting) []comparison {
	var list []comparison
	for _, rows := range s.peerRows {
		list = append(list, comparison{
			operation: fmt.Sprintf("tables-%d", rows), title: fmt.Sprintf("Tables, %d rows of %d pairs", rows, pairs),
			unit: "pair", count: rows * pairs, bytes: 8 * rows * pairs, rows: rows,
			computedBy: func(p *peers.Peer) bool { return p.Tables != nil && (p.Vectors || rows < manyRows) },
			call: func(p *peers.Peer, m *memory) func() {
				cos, sin := m.tableHalves(rows)
				positions, frequencies := sequence(rows), ladder()
				return func() { p.Tables(cos, sin, positions, frequencies) }
			},
		})
	}
	for _, limit := range []float32{100, 1e6} {
		list = append(list, comparison{
			operation: fmt.Sprintf("angles-below-%.0f", limit), title: fmt.Sprintf("Cosine and sine of %d float32 angles below %.0f in magnitude", comparedAngles, limit),
			unit: "pair", count: comparedAngles, bytes: 8 * comparedAngles, angles: limit,
			computedBy: func(p *peers.Peer) bool { return p.Angles != nil },
			call: func(p *peers.Peer, m *memory) func() {
				cos, sin, angles := m.float32s[:comparedAngles], m.float32s[comparedAngles:2*comparedAngles], randomAngles(limit)
				return func() { p.Angles(cos, sin, angles) }
			},
		})
	}
	for _, layout := range layouts {
		list = append(list, comparison{
			operation: "ready-" + layoutName(layout), title: fmt.Sprintf("Rotation by a ready row, %s, %d heads of %d float32", layoutName(layout), queryHeads, headDim),
			unit: "call", count: 1, bytes: 4 * queryHeads * headDim,
			computedBy: func(p *peers.Peer) bool { return p.Ready[layout] != nil },
			call: func(p *peers.Peer, m *memory) func() {
				cos, sin := make([]float32, pairs), make([]float32, pairs)
				fill(cos, 0.6)
				fill(sin, 0.8)
				x := m.float32s[:queryHeads*headDim]
				return func() { p.Ready[layout](x, cos, sin, queryHeads, headDim) }
			},
		})
	}
	for _, tokens := range []int{1, s.prefill} {
		for _, layout := range layouts {
			list = append(list, comparison{
				operation: fmt.Sprintf("operator-%d-%s", tokens, layoutName(layout)),
				title:     fmt.Sprintf("Whole operator, %s, %d tokens of %d heads of %d float32", layoutName(layout), tokens, queryHeads, headDim),
				unit:      "token", count: tokens, bytes: 4 * tokens * queryHeads * headDim,
				computedBy: func(p *peers.Peer) bool { return p.Operator[layout] != nil },
				call: func(p *peers.Peer, m *memory) func() {
					x, positions := m.float32s[:tokens*queryHeads*headDim], sequence(tokens)
					return func() { p.Operator[layout](x, positions, queryHeads, headDim, base) }
				},
			})
		}
	}
	return list
}

func (c comparison) name(p *peers.Peer) string {
	return fmt.Sprintf("Peers/op=%s/peer=%s", c.operation, strings.Map(func(r rune) rune {
		if r == ' ' || r == '/' || r == ',' {
			return '-'
		}
		return r
	}, p.Name))
}

// cases are those of posenc and of every peer that computes this.
func (c comparison) cases(all []peers.Peer, m *memory) []measure.Case {
	var cases []measure.Case
	for i := range all {
		if c.computedBy(&all[i]) {
			call := c.call(&all[i], m)
			cases = append(cases, measure.Case{Name: c.name(&all[i]), Bytes: int64(c.bytes), Run: func() error { call(); return nil }})
		}
	}
	return cases
}

// compared are posenc and its peers.
func compared() []peers.Peer {
	others, _ := peers.All()
	return append(posencAsPeers(), others...)
}

// posencAsPeers describes posenc as its peers are. The frequencies of its tables
// and operators are prepared once, as a model does, those of its Exact tables in
// each call, by posenc.CosSin.
func posencAsPeers() []peers.Peer {
	float32Angles := must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit, Base: base, Rounding: frequency.Float32}))
	operators := map[posenc.Layout]func(x []float32, positions []int32, heads, dim int, base float64){}
	for _, layout := range layouts {
		rotary := must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Base: base, Layout: layout}))
		operators[layout] = func(x []float32, positions []int32, heads, _ int, _ float64) {
			posenc.Rotate(rotary.At(positions), posenc.View[float32]{Data: x, Heads: heads})
		}
	}
	implementation := dispatch.Implementation()
	return []peers.Peer{
		{
			Name: "posenc", Computes: "CosSin: exact angles", Accuracy: "correctly rounded", Angle: peers.ExactAngle, Vectors: true,
			Tables: func(cos, sin []float32, positions []int32, invFreq []float64) {
				posenc.CosSin(cos, sin, positions, invFreq)
			},
		},
		{
			Name: "posenc Float32", Computes: "Rotary.CosSin: angle rounded to float32", Accuracy: "cosine and sine of it correctly rounded", Angle: peers.Float32Angle, Vectors: true,
			Tables: func(cos, sin []float32, positions []int32, _ []float64) { float32Angles.CosSin(cos, sin, positions) },
		},
		{
			Name: "posenc", Computes: "CosSinAngles", Accuracy: "correctly rounded",
			Angles: func(cos, sin, angles []float32) { posenc.CosSinAngles(cos, sin, angles) },
		},
		{
			Name: "posenc", Computes: "the kernel of Rotate", Accuracy: "each product and sum correctly rounded",
			Ready: map[posenc.Layout]func(x, cos, sin []float32, heads, dim int){
				posenc.HalfSplit: func(x, cos, sin []float32, heads, dim int) {
					rows := readyRows(heads, dim)
					kernels.RotateHalfSplitF32(implementation, x, x, cos, sin, &rows)
				},
				posenc.Interleaved: func(x, cos, sin []float32, heads, dim int) {
					rows := readyRows(heads, dim)
					kernels.RotateInterleavedF32(implementation, x, x, cos, sin, &rows)
				},
			},
		},
		{
			Name: "posenc", Computes: "Rotate: exact angles", Accuracy: "correctly rounded cosines and sines", Operator: operators,
		},
	}
}

func readyRows(heads, dim int) kernels.Rotation {
	return kernels.Rotation{Pairs: dim / 2, Partner: dim / 2, Tokens: 1, Heads: heads, YHeadStride: dim, XHeadStride: dim}
}

// randomAngles are the same in every run.
func randomAngles(limit float32) []float32 {
	random := rand.New(rand.NewPCG(1, 2))
	angles := make([]float32, comparedAngles)
	for i := range angles {
		angles[i] = (2*random.Float32() - 1) * limit
	}
	return angles
}

// reference is what the results of peers are compared with: cosines and sines of
// exact products of some positions, or of angles.
type reference struct {
	positions []int32
	angles    []float32
	cos, sin  []float64
}

// references are the cosines and sines of a reference.
func (c comparison) references(positions int) int {
	switch {
	case c.rows > 0:
		return positions * pairs
	case c.angles > 0:
		return comparedAngles
	}
	return 0
}

// reference is nil for rotations, which have none here.
func (c comparison) reference(positions int) *reference {
	ref := &reference{}
	add := func(cos, sin float64) { ref.cos, ref.sin = append(ref.cos, cos), append(ref.sin, sin) }
	switch {
	case c.rows > 0:
		random := rand.New(rand.NewPCG(3, 4))
		for range positions {
			ref.positions = append(ref.positions, int32(random.IntN(c.rows)))
		}
		ref.positions[0] = int32(c.rows - 1)
		for _, position := range ref.positions {
			for _, w := range ladder() {
				add(productReference(position, w))
			}
		}
	case c.angles > 0:
		ref.angles = randomAngles(c.angles)
		for _, a := range ref.angles {
			add(angleReference(a))
		}
	default:
		return nil
	}
	return ref
}

// worst returns the largest errors of a peer.
func (ref *reference) worst(p *peers.Peer) (absolute, ulps float64) {
	cos, sin := make([]float32, len(ref.cos)), make([]float32, len(ref.sin))
	if ref.angles != nil {
		p.Angles(cos, sin, ref.angles)
	} else {
		p.Tables(cos, sin, ref.positions, ladder())
	}
	for i := range cos {
		absolute, ulps = larger(absolute, ulps, cos[i], ref.cos[i])
		absolute, ulps = larger(absolute, ulps, sin[i], ref.sin[i])
	}
	return absolute, ulps
}
