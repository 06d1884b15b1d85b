package posenc_test

import (
	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/kit"
)

var _ = kit.Register(kit.Case{Function: "ShiftQuantized", Times: 2,
	Call: oneOf(shiftQuantizedCall[posenc.Q8_0], shiftQuantizedCall[int8], shiftQuantizedCall[posenc.E4M3], shiftQuantizedCall[posenc.E5M2],
		shiftQuantizedCall[posenc.Q4_0], shiftQuantizedCall[posenc.Q4_1], shiftQuantizedCall[posenc.Q5_0], shiftQuantizedCall[posenc.Q5_1], shiftQuantizedCall[posenc.IQ4_NL],
		shiftQuantizedCall[posenc.MXFP4Floor], shiftQuantizedCall[posenc.MXFP4RCeil], shiftQuantizedCall[posenc.MXFP4Even], shiftQuantizedCall[posenc.NVFP4]),
	OnStack: func() error {
		var keys [3 * 2]posenc.Q8_0
		var deltas = [3]int32{1, 0, -1}
		return posenc.ShiftQuantized(modelOnStack(64).At(deltas[:]), posenc.QuantizedView[posenc.Q8_0]{View: posenc.View[posenc.Q8_0]{Data: keys[:], Heads: 1}})
	},
	Digests: ofFormats("ShiftQuantized/type=%s", digestShiftQuantized[posenc.Q8_0], digestShiftQuantized[int8], digestShiftQuantized[posenc.E4M3], digestShiftQuantized[posenc.E5M2],
		digestShiftQuantized[posenc.Q4_0], digestShiftQuantized[posenc.Q4_1], digestShiftQuantized[posenc.Q5_0], digestShiftQuantized[posenc.Q5_1], digestShiftQuantized[posenc.IQ4_NL],
		digestShiftQuantized[posenc.MXFP4Floor], digestShiftQuantized[posenc.MXFP4RCeil], digestShiftQuantized[posenc.MXFP4Even], digestShiftQuantized[posenc.NVFP4]),
	Long: func() error {
		return eachLong(func(_ posenc.Angles, tokens, heads, dim int) error {
			if dim > 2048 || dim%32 != 0 {
				return nil
			}
			r := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
			return posenc.ShiftQuantized(r.At(kit.Sequence(tokens)), posenc.QuantizedView[posenc.Q8_0]{View: posenc.View[posenc.Q8_0]{Data: make([]posenc.Q8_0, tokens*heads*dim/32), Heads: heads}})
		})
	},
})

func shiftQuantizedCall[D posenc.Quantized](a *kit.Arguments) kit.Call {
	block, scales := formatOf[D](a)
	hadamard, unit := hadamardOf(a, block)
	if !a.Any() || a.Below(8) > 0 {
		a.HeadUnit = unit
	}
	r := rotaryOf(a)
	for !a.Any() && r.cfg.XPos != nil {
		r = rotaryOf(a)
	}
	deltas := positionsOf(a, &r)
	tokens, dim := len(deltas)/r.axes, r.cfg.HeadDim
	for i := range deltas {
		if a.R.IntN(4) == 0 {
			deltas[i] = 0
		}
	}
	xs := make([]posenc.QuantizedView[D], 1+a.Below(2))
	moved := func() (list []int) {
		for t := range tokens {
			for axis := range r.axes {
				if deltas[axis*tokens+t] != 0 {
					list = append(list, t)
					break
				}
			}
		}
		return list
	}
	for i := range xs {
		xs[i] = quantizedOf[D](a, tokens, a.Heads(), dim, block, scales)
		xs[i].Hadamard = hadamard
		writesQuantized(a, xs[i], moved, dim, block)
	}
	call := kit.Call{
		Run: func() error { return posenc.ShiftQuantized(r.at(deltas), xs...) },
		Want: func() {
			p := plainOf(r.cfg)
			p.in = p.out
			cfg := r.cfg
			cfg.AttentionFactor = 0
			p = p.with(plainTables(cfg, deltas, byGeneric))
			for i := range xs {
				x := &xs[i]
				for _, t := range moved() {
					for h := range x.Heads {
						head := posenc.View[float32]{Data: dequantizePlain(x, t, h, dim), Heads: 1}
						one := p
						one.cos = [2][]float32{p.cos[0][t*p.rotaryDim/2:], p.cos[1][t*p.rotaryDim/2:]}
						one.sin = [2][]float32{p.sin[0][t*p.rotaryDim/2:], p.sin[1][t*p.rotaryDim/2:]}
						rotateViewsPlain(one, []posenc.View[float32]{head}, 1)
						quantizePlain(x, t, h, head.Data)
					}
				}
			}
		},
		Parts: func(c *kit.Choices) (groups [][]func() error) {
			for i := range xs {
				for _, part := range c.Deal(tokens) {
					groups = append(groups, []func() error{func() error {
						for _, t := range part {
							if err := posenc.ShiftQuantized(r.at(kit.PickAxes(deltas, r.axes, []int{t})), oneToken(&xs[i], t, dim)); err != nil {
								return err
							}
						}
						return nil
					}})
				}
			}
			return groups
		},
	}
	return call
}

func digestShiftQuantized[D posenc.Quantized](d *kit.Digest) {
	const tokens, heads, dim = 7, 2, 64
	for layout := range digestLayouts {
		r := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: allLayouts[layout]})
		keys := digestCache[D](d, tokens, heads, dim, layout%2 == 0)
		keys.Hadamard = []int{0, 32, 64, 0}[layout]
		deltas := d.Positions(tokens)
		deltas[2] = 0
		d.Must(posenc.ShiftQuantized(r.At(deltas), keys))
		d.Add(keys.Data, keys.Scales)
	}
}
