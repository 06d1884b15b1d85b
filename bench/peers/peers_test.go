package peers

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/kit"
)

// What each peer computes must be what posenc computes, within the error of
// float32 angles at small positions, lest a figure compare different things.
func TestPeersComputeTheSame(t *testing.T) {
	const heads, dim, base = 3, 128, 10000
	r := kit.Must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit, Base: base}))
	invFreq := make([]float64, dim/2)
	for i := range invFreq {
		invFreq[i] = math.Pow(base, -float64(2*i)/dim)
	}
	positions := []int32{0, 1, 17, 100}
	n := len(positions) * dim / 2
	wantCos, wantSin := make([]float32, n), make([]float32, n)
	kit.NoError(t, r.CosSin(wantCos, wantSin, positions))
	// An angle of at most 100 has 2^-17.4 of absolute error after a rounding to
	// float32 (2^-24 of it), and the recurrence has dim/2 of those roundings.
	const tolerance = 32 * 100 * 0x1p-24
	check := func(t *testing.T, what string, got, want []float32, scale float64) {
		t.Helper()
		for i := range want {
			if d := math.Abs(float64(got[i]) - float64(want[i])); !(d <= tolerance*scale) {
				t.Fatalf("%s[%d] = %v, posenc has %v", what, i, got[i], want[i])
			}
		}
	}
	all, absent := All()
	if len(all) == 0 {
		t.Fatal("no peers")
	}
	for _, peer := range absent {
		t.Logf("absent: %s", peer)
	}
	for _, p := range all {
		t.Run(p.Name, func(t *testing.T) {
			if p.Computes == "" || p.Accuracy == "" {
				t.Error("it does not say what it computes, or how accurately")
			}
			if (p.Tables == nil) != (p.Angle == "") {
				t.Errorf("its angles are %q", p.Angle)
			}
			cos, sin := make([]float32, n), make([]float32, n)
			ran := 0
			if p.Tables != nil {
				ran++
				p.Tables(cos, sin, positions, invFreq)
				check(t, "cos", cos, wantCos, 1)
				check(t, "sin", sin, wantSin, 1)
			}
			if p.Angles != nil {
				ran++
				angles := make([]float32, n)
				for i := range angles {
					angles[i] = float32(i) - 50.25
				}
				wantCos, wantSin := make([]float32, n), make([]float32, n)
				kit.NoError(t, posenc.CosSinAngles(wantCos, wantSin, angles))
				p.Angles(cos, sin, angles)
				check(t, "cos", cos, wantCos, 1)
				check(t, "sin", sin, wantSin, 1)
			}
			for _, layout := range []posenc.Layout{posenc.HalfSplit, posenc.Interleaved} {
				x, want := make([]float32, len(positions)*heads*dim), make([]float32, len(positions)*heads*dim)
				for i := range x {
					x[i] = float32(i%13) - 6 // so that a result has at most 6*sqrt(2)
					want[i] = x[i]
				}
				rotary := kit.Must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: dim, Base: base, Layout: layout}))
				kit.NoError(t, posenc.Rotate(rotary.At(positions), posenc.View[float32]{Data: want, Heads: heads}))
				if run := p.Ready[layout]; run != nil {
					ran++
					for i := range positions {
						run(x[i*heads*dim:][:heads*dim], wantCos[i*dim/2:][:dim/2], wantSin[i*dim/2:][:dim/2], heads, dim)
					}
					check(t, "x", x, want, 12)
				}
				if run := p.Operator[layout]; run != nil {
					ran++
					run(x, positions, heads, dim, base)
					check(t, "x", x, want, 12)
				}
			}
			if p.Store != nil {
				// Codes of numbers up to 6*sqrt(2) may be neighbours.
				ran += storesTheSame[posenc.Q8_0](t, p, "q8_0", 0.08) + storesTheSame[posenc.Q5_1](t, p, "q5_1", 0.6) + storesTheSame[posenc.Q5_0](t, p, "q5_0", 0.6) +
					storesTheSame[posenc.Q4_1](t, p, "q4_1", 1.2) + storesTheSame[posenc.Q4_0](t, p, "q4_0", 1.2) + storesTheSame[posenc.IQ4_NL](t, p, "iq4_nl", 1.7)
			}
			if ran == 0 {
				t.Error("it computes nothing")
			}
		})
	}
}

// storesTheSame compares what a peer stores, read back, with the source, which posenc rotates.
func storesTheSame[D posenc.Quantized](t *testing.T, p Peer, format string, step float64) (ran int) {
	const heads, dim, base = 3, 128, 10000
	positions, slots := []int32{0, 1, 17, 100}, []int64{2, 0, 4, 3}
	for _, layout := range []posenc.Layout{posenc.HalfSplit, posenc.Interleaved} {
		x, got := make([]float32, len(positions)*heads*dim), make([]float32, len(positions)*heads*dim)
		for i := range x {
			x[i] = float32(i%13) - 6
		}
		want := slices.Clone(x)
		rotary := kit.Must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: dim, Base: base, Layout: layout}))
		kit.NoError(t, posenc.Rotate(rotary.At(positions), posenc.View[float32]{Data: want, Heads: heads}))
		blocks := make([]D, 5*heads*dim/32)
		run := p.Store(format, layout, x, positions, unsafe.Slice((*byte)(unsafe.Pointer(&blocks[0])), len(blocks)*int(unsafe.Sizeof(blocks[0]))), slots, heads, dim, base, 1)
		if run == nil {
			return ran
		}
		run()
		ran++
		options := posenc.DequantizeOptions{Tokens: len(positions), HeadDim: dim, Slots: []int32{2, 0, 4, 3}}
		kit.NoError(t, posenc.Dequantize(posenc.View[float32]{Data: got, Heads: heads}, posenc.QuantizedView[D]{View: posenc.View[D]{Data: blocks, Heads: heads}}, options))
		for i := range want {
			if d := math.Abs(float64(got[i]) - float64(want[i])); !(d <= step) {
				t.Fatalf("%s, layout %v: x[%d] = %v, posenc has %v", format, layout, i, got[i], want[i])
			}
		}
	}
	return ran
}
