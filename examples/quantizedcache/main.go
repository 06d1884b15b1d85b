// Quantizedcache keeps the keys and values of an attention layer in a paged cache of 4 to 8 bits a
// number, computes one step of attention from it, and prints how far scores and outputs
// are from those of a float32 cache.
//
//	go run ./examples/quantizedcache
package main

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"strings"
	"text/tabwriter"
	"unsafe"

	"github.com/go-posenc/posenc"
)

const (
	queryHeads, keyHeads, headDim = 32, 8, 128
	tokens                        = 1000 // of the prompt
	pageTokens                    = 16
	pages                         = (tokens+pageTokens-1)/pageTokens + 4
)

func main() {
	log.SetFlags(0)
	rope, err := newRotary()
	check(err)
	fmt.Print(newStep(rope).table())
}

func newRotary() (*posenc.Rotary, error) {
	return posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit, Base: 500000})
}

// table returns a line for each format: what a number takes, and the errors without a Hadamard transform
// and with one in blocks of a head.
func (s *step) table() string {
	exact := s.attend(s.floatCache())
	var text strings.Builder
	out := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "format\tbits\tscores\ttransformed\toutputs\ttransformed\t")
	for _, format := range []struct {
		name    string
		cacheOf func(hadamard int) numbers
	}{
		{"Q8_0", func(hadamard int) numbers { return cacheOf[posenc.Q8_0](s, headDim/32, nil, 0, hadamard) }},
		{"int8, Scales", func(hadamard int) numbers { return cacheOf[int8](s, headDim, scales(), 0, hadamard) }},
		{"E4M3, Scales", func(hadamard int) numbers { return cacheOf[posenc.E4M3](s, headDim, scales(), 0, hadamard) }},
		{"E4M3, InverseScale", func(hadamard int) numbers { return cacheOf[posenc.E4M3](s, headDim, nil, 1, hadamard) }},
		{"E5M2", func(hadamard int) numbers { return cacheOf[posenc.E5M2](s, headDim, nil, 1, hadamard) }},
		{"Q5_1", func(hadamard int) numbers { return cacheOf[posenc.Q5_1](s, headDim/32, nil, 0, hadamard) }},
		{"Q5_0", func(hadamard int) numbers { return cacheOf[posenc.Q5_0](s, headDim/32, nil, 0, hadamard) }},
		{"Q4_1", func(hadamard int) numbers { return cacheOf[posenc.Q4_1](s, headDim/32, nil, 0, hadamard) }},
		{"Q4_0", func(hadamard int) numbers { return cacheOf[posenc.Q4_0](s, headDim/32, nil, 0, hadamard) }},
		{"NVFP4", func(hadamard int) numbers { return cacheOf[posenc.NVFP4](s, headDim/16, nil, 0, hadamard) }},
		{"MXFP4RCeil", func(hadamard int) numbers { return cacheOf[posenc.MXFP4RCeil](s, headDim/32, nil, 0, hadamard) }},
		{"IQ4_NL", func(hadamard int) numbers { return cacheOf[posenc.IQ4_NL](s, headDim/32, nil, 0, hadamard) }},
	} {
		plain, transformed := format.cacheOf(0), format.cacheOf(headDim)
		without, with := s.attend(plain).errors(exact), s.attend(transformed).errors(exact)
		fmt.Fprintf(out, "%s\t%.4g\t%.2g %%\t%.2g %%\t%.2g %%\t%.2g %%\t\n", format.name,
			float64(8*plain.bytes)/(2*keyHeads*headDim), without.scores, with.scores, without.outputs, with.outputs)
	}
	check(out.Flush())
	return text.String()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// step is the queries of one token and the keys and values of all before it.
type step struct {
	rope      *posenc.Rotary
	q, k, v   []float32 // not rotated
	positions []int32
	slots     []int32 // where tokens lie in the pages
}

// newStep makes numbers as models have them: some channels of keys are much larger than
// the others. Pages are taken in any order.
func newStep(rope *posenc.Rotary) *step {
	r := rand.New(rand.NewPCG(1, 2))
	s := &step{rope: rope, q: make([]float32, queryHeads*headDim), k: make([]float32, tokens*keyHeads*headDim), v: make([]float32, tokens*keyHeads*headDim)}
	for i := range s.q {
		s.q[i] = float32(r.NormFloat64())
	}
	for i := range s.k {
		s.k[i], s.v[i] = float32(r.NormFloat64()), float32(r.NormFloat64())
		if i%64 == 5 {
			s.k[i] *= 12
		}
	}
	table := r.Perm(pages)
	for t := range int32(tokens) {
		s.positions = append(s.positions, t)
		s.slots = append(s.slots, int32(table[t/pageTokens])*pageTokens+t%pageTokens)
	}
	return s
}

// paged is a view of pages [pages][heads][tokens of a page][headDim], of which a head has so
// many elements.
func paged[D posenc.Quantized](data []D, head int) posenc.View[D] {
	return posenc.View[D]{
		Data: data, Heads: keyHeads, HeadStride: pageTokens * head, TokenStride: head,
		SequenceTokens: pageTokens, SequenceStride: keyHeads * pageTokens * head,
	}
}

const cacheHeads = pages * pageTokens * keyHeads

func scales() *[2][cacheHeads]float32 { return new([2][cacheHeads]float32) }

// numbers is what a step reads from a cache: keys and values as float32, in the order of the
// slots, keys as they are after the rotation.
type numbers struct {
	keys, values []float32
	bytes        int // of a token
	hadamard     int // what queries go through
}

// floatCache stores keys and values as float32.
func (s *step) floatCache() numbers {
	n := numbers{keys: make([]float32, cacheHeads*headDim), values: make([]float32, cacheHeads*headDim), bytes: 2 * 4 * keyHeads * headDim}
	check(posenc.RotateInto(s.rope.At(s.positions), paged(n.keys, headDim), s.slots, posenc.View[float32]{Data: s.k, Heads: keyHeads}))
	values := paged(n.values, headDim)
	for t, slot := range s.slots {
		for h := range keyHeads {
			at := int(slot)/pageTokens*values.SequenceStride + int(slot)%pageTokens*values.TokenStride + h*values.HeadStride
			copy(n.values[at:][:headDim], s.v[(t*keyHeads+h)*headDim:])
		}
	}
	return n
}

// cacheOf stores keys and values quantized, a head in that many elements, and reads them
// back. An engine reads them in its dot products instead.
func cacheOf[D posenc.Quantized](s *step, head int, scales *[2][cacheHeads]float32, scale float32, hadamard int) numbers {
	view := func(i, hadamard int) posenc.QuantizedView[D] {
		v := posenc.QuantizedView[D]{View: paged(make([]D, cacheHeads*head), head), InverseScale: scale, Hadamard: hadamard}
		if scales != nil {
			v.Scales = scales[i][:]
		}
		return v
	}
	keys, values := view(0, hadamard), view(1, 0)
	check(posenc.RotateIntoQuantizedKV(s.rope.At(s.positions), s.slots,
		posenc.IntoQuantized[D, float32]{Dst: keys, Src: posenc.View[float32]{Data: s.k, Heads: keyHeads}},
		posenc.IntoQuantized[D, float32]{Dst: values, Src: posenc.View[float32]{Data: s.v, Heads: keyHeads}}))

	keys.Hadamard = 0 // scores are computed from what lies in the cache
	n := numbers{keys: make([]float32, cacheHeads*headDim), values: make([]float32, cacheHeads*headDim), hadamard: hadamard}
	check(posenc.Dequantize(paged(n.keys, headDim), keys, posenc.DequantizeOptions{Tokens: pages * pageTokens, HeadDim: headDim}))
	check(posenc.Dequantize(paged(n.values, headDim), values, posenc.DequantizeOptions{Tokens: pages * pageTokens, HeadDim: headDim}))
	n.bytes = 2 * keyHeads * head * int(unsafe.Sizeof(*new(D)))
	if scales != nil {
		n.bytes += 2 * keyHeads * 4
	}
	return n
}

// results are the scores and outputs of a step.
type results struct{ scores, outputs []float64 }

// attend computes the attention of the token after the last.
func (s *step) attend(n numbers) (r results) {
	q := append([]float32(nil), s.q...)
	check(posenc.Rotate(s.rope.At([]int32{tokens}), posenc.View[float32]{Data: q, Heads: queryHeads}))
	if n.hadamard != 0 {
		check(posenc.Hadamard(posenc.HadamardOptions{HeadDim: headDim, Block: n.hadamard}, 1, posenc.View[float32]{Data: q, Heads: queryHeads}))
	}
	pages := paged(n.keys, headDim)
	for h := range queryHeads {
		weights, sum := make([]float64, tokens), 0.0
		row := func(t int) int {
			slot := int(s.slots[t])
			return slot/pageTokens*pages.SequenceStride + slot%pageTokens*pages.TokenStride + h*keyHeads/queryHeads*pages.HeadStride
		}
		for t := range weights {
			score := 0.0
			for i, k := range n.keys[row(t):][:headDim] {
				score += float64(q[h*headDim+i]) * float64(k)
			}
			score /= math.Sqrt(headDim)
			r.scores = append(r.scores, score)
			weights[t] = math.Exp(score)
			sum += weights[t]
		}
		output := make([]float64, headDim)
		for t, w := range weights {
			for i, v := range n.values[row(t):][:headDim] {
				output[i] += w / sum * float64(v)
			}
		}
		r.outputs = append(r.outputs, output...)
	}
	return r
}

// percent is the errors of results: root mean squares, as percentages of those of the exact ones.
type percent struct{ scores, outputs float64 }

func (r results) errors(exact results) percent {
	return percent{relative(r.scores, exact.scores), relative(r.outputs, exact.outputs)}
}

func relative(got, want []float64) float64 {
	var errors, size float64
	for i, w := range want {
		errors += (got[i] - w) * (got[i] - w)
		size += w * w
	}
	return 100 * math.Sqrt(errors/size)
}
