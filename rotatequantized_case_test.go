package posenc_test

import (
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/kit"
)

var (
	_ = kit.Register(kit.Case{Function: "RotateQuantized", Times: 2,
		Call: oneOf(rotateQuantizedCall[posenc.Q8_0, posenc.Q8_0], rotateQuantizedCall[int8, posenc.Q4_0], rotateQuantizedCall[posenc.E4M3, posenc.E4M3], rotateQuantizedCall[posenc.E5M2, int8],
			rotateQuantizedCall[posenc.Q5_1, posenc.IQ4_NL], rotateQuantizedCall[posenc.Q5_0, posenc.Q4_1],
			rotateQuantizedCall[posenc.Q8_0, posenc.Float16], rotateQuantizedCall[posenc.BFloat16, float32], rotateQuantizedCall[float32, posenc.Q8_0]),
		OnStack: func() error {
			var keys [3 * 2]posenc.Q8_0
			var deltas = [3]int32{1, 0, -1}
			view := posenc.QuantizedView[posenc.Q8_0]{View: posenc.View[posenc.Q8_0]{Data: keys[:], Heads: 1}}
			return posenc.RotateQuantized(modelOnStack(64).At(deltas[:]), posenc.FromQuantized[posenc.Q8_0, posenc.Q8_0]{Dst: view, Src: view})
		},
		Digests: digestOf("RotateQuantized", func(d *kit.Digest) {
			for layout := range digestLayouts {
				r := kit.MustRotary(posenc.RotaryConfig{HeadDim: 64, Layout: allLayouts[layout]})
				x := posenc.FromQuantized[posenc.Q5_0, posenc.Q8_0]{Dst: digestCache[posenc.Q5_0](d, 9, 2, 64, false), Src: digestCache[posenc.Q8_0](d, 7, 2, 64, false), DstSlots: []int32{3, 8, 0}, SrcSlots: []int32{6, 0, 6}}
				x.Dst.Hadamard = 32
				d.Must(posenc.RotateQuantized(r.At(d.Positions(3)), x))
				d.Add(x.Dst.Data)
			}
		}),
		Long: func() error {
			return eachLong(func(a posenc.Angles, tokens, heads, dim int) error {
				if dim > 2048 || dim%32 != 0 {
					return nil
				}
				keys := posenc.QuantizedView[posenc.Q8_0]{View: posenc.View[posenc.Q8_0]{Data: make([]posenc.Q8_0, tokens*heads*dim/32), Heads: heads}}
				return posenc.RotateQuantized(a, posenc.FromQuantized[posenc.Q8_0, posenc.Q8_0]{Dst: keys, Src: keys})
			})
		},
	})
	_ = kit.Register(kit.Case{Function: "Rotary.RebaseRows",
		Call: func(a *kit.Arguments) kit.Call {
			from := rotaryOf(a)
			for !a.Any() && from.cfg.XPos != nil {
				from = rotaryOf(a)
			}
			cfg := from.cfg
			pairs := plainOf(cfg).rotaryDim / 2
			cfg.Base, cfg.InvFreq, cfg.AttentionFactor, cfg.Axes = 0, make([]float64, pairs), 0, from.Config().Axes
			for i := range cfg.InvFreq {
				cfg.InvFreq[i] = a.R.ExpFloat64()
			}
			if a.Rarely() {
				cfg.Layout = allLayouts[a.Below(4)]
			}
			r, err := posenc.NewRotary(cfg)
			positions := a.Positions(from.axes * min(a.Tokens(), 3))
			call := kit.Call{Allocates: kit.Constructed,
				Run: func() error {
					rows, err := r.RebaseRows(from.at(positions))
					if err == nil && rows.Len() != len(positions)/from.axes {
						panic("another number of rows")
					}
					return kit.Made(rows, err)
				},
			}
			if !a.Any() {
				call.Right = func() bool {
					sum := 0.0
					for _, ladder := range [][]float64{kit.FrequenciesOf(from.cfg), cfg.InvFreq} {
						largest := 0.0
						for _, w := range ladder {
							largest = max(largest, math.Abs(w))
						}
						sum += largest
					}
					return err == nil && kit.AnglesInRange([]float64{sum}, positions)
				}
			}
			return call
		},
		Digests: digestOf("Rotary.RebaseRows", func(d *kit.Digest) {
			cfg := digestConfig(d, posenc.HalfSplit, 0, 32)
			cfg.Axes = nil
			from := kit.MustRotary(cfg)
			cfg.InvFreq, cfg.AttentionFactor = append(cfg.InvFreq[1:], 3), 1.5
			rows := kit.Must(kit.MustRotary(cfg).RebaseRows(from.At(d.Positions(5))))
			x := kit.DigestElements[float32](d, 5*cfg.HeadDim)
			d.Must(posenc.Rotate(rows.All(), posenc.View[float32]{Data: x, Heads: 1}))
			d.Add(x)
		}),
	})
)

func rotateQuantizedCall[D, S posenc.Quantized](a *kit.Arguments) kit.Call {
	block, scales := formatOf[D](a)
	fromBlock, fromScales := formatOf[S](a)
	hadamard, unit := hadamardOf(a, max(block, fromBlock))
	if !a.Any() || a.Below(8) > 0 {
		a.HeadUnit = unit
	}
	r := rotaryOf(a)
	positions := positionsOf(a, &r)
	tokens, dim := len(positions)/r.axes, r.cfg.HeadDim
	slots, room := slotsOf(a, tokens)
	sources, from := slotsOf(a, tokens)
	x := posenc.FromQuantized[D, S]{DstSlots: slots, SrcSlots: sources}
	x.Src = quantizedOf[S](a, from, a.Heads(), dim, fromBlock, fromScales)
	x.Dst = quantizedOf[D](a, room, x.Src.Heads, dim, block, scales)
	kit.BySlots(a, &x.Src.View, sources)
	kit.BySlots(a, &x.Dst.View, slots)
	x.Dst.Hadamard = hadamard
	if a.Any() && a.Below(8) > 0 {
		x.Dst.Heads = x.Src.Heads
	}
	slot, source := slotIn(slots), slotIn(sources)
	writesQuantized(a, x.Dst, func() (list []int) {
		for t := range tokens {
			if slot(t) >= 0 && source(t) >= 0 {
				list = append(list, slot(t))
			}
		}
		return list
	}, dim, block)
	call := kit.Call{
		Run: func() error { return posenc.RotateQuantized(r.at(positions), x) },
		Want: func() {
			p := plainOf(r.cfg).with(r.cosSin(positions))
			for t := range tokens {
				for h := 0; h < x.Dst.Heads && slot(t) >= 0 && source(t) >= 0; h++ {
					head, one := posenc.View[float32]{Data: dequantizePlain(&x.Src, source(t), h, dim), Heads: 1}, p
					one.cos = [2][]float32{p.cos[0][t*p.rotaryDim/2:], p.cos[1][t*p.rotaryDim/2:]}
					one.sin = [2][]float32{p.sin[0][t*p.rotaryDim/2:], p.sin[1][t*p.rotaryDim/2:]}
					rotateViewsPlain(one, []posenc.View[float32]{head}, 1)
					quantizePlain(&x.Dst, slot(t), h, head.Data)
				}
			}
		},
	}
	if !a.Any() {
		call.Right = func() bool { return true }
	}
	if !twice(slots) {
		call.Parts = func(c *kit.Choices) (groups [][]func() error) {
			for _, part := range c.Deal(tokens) {
				some := x
				some.Dst.Tokens, some.Src.Tokens = 0, 0
				some.DstSlots, some.SrcSlots = make([]int32, len(part)), make([]int32, len(part))
				for i, t := range part {
					some.DstSlots[i], some.SrcSlots[i] = int32(slot(t)), int32(source(t))
				}
				groups = append(groups, []func() error{func() error {
					return posenc.RotateQuantized(r.at(kit.PickAxes(positions, r.axes, part)), some)
				}})
			}
			return groups
		}
	}
	return call
}
