package posenc_test

import (
	"errors"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/test/kit"
)

var (
	_ = kit.Register(kit.Case{Function: "PagedView.Record", NoDigest: true, Call: func(a *kit.Arguments) kit.Call {
		v, dim := posenc.PagedView{Format: posenc.PageFormat(1 + a.Below(6))}, 16*(1+a.Below(32))
		if a.Any() {
			v.Format, v.Group, dim = posenc.PageFormat(a.Below(9)), a.Number(0, 64), a.Number(0, 600)
		}
		return kit.Call{Allocates: kit.Constructed, Run: func() error {
			_, _, err := v.Record(dim)
			return err
		}}
	}})
	_ = kit.Register(kit.Case{Function: "RotateIntoPages", Times: 4, NoDigest: true, OnStack: pagesOnStack,
		Call: oneOf(intoPagesAlone[float32], intoPagesAlone[float32], intoPagesAlone[posenc.Float16], intoPagesAlone[posenc.BFloat16])})
	_ = kit.Register(kit.Case{Function: "RotateIntoPagesKV", Times: 2, NoDigest: true, OnStack: pagesOnStack,
		Call: oneOf(intoPagesBoth[float32], intoPagesBoth[posenc.BFloat16])})
	_ = kit.Register(kit.Case{Function: "DequantizePages", Times: 2, NoDigest: true, OnStack: pagesOnStack,
		Call: oneOf(dequantizePagesCall[float32], dequantizePagesCall[posenc.Float16], dequantizePagesCall[posenc.BFloat16])})
)

// pagesOnStack stores two tokens of keys by channel and of values by token, keys alone, and reads them.
func pagesOnStack() error {
	var k, v [2 * 2 * 64]float32
	var keys [2 * (8*64 + 32*64)]byte
	var values [3 * 2 * (8 + 32)]byte
	var slots = [2]int32{0, 2}
	a := stackRotary().Unrotated(2)
	dst := posenc.PagedView{Format: posenc.OpenVINOU8ByChannel, View: posenc.View[byte]{Data: keys[:], Heads: 2}}
	x := posenc.IntoPages[float32]{Dst: dst, Src: posenc.View[float32]{Data: k[:], Heads: 2}, HeadDim: 64}
	y := posenc.IntoPages[float32]{Dst: posenc.PagedView{Format: posenc.OpenVINOU4, View: posenc.View[byte]{Data: values[:], Heads: 2}}, Src: posenc.View[float32]{Data: v[:], Heads: 2}, HeadDim: 64}
	return errors.Join(posenc.RotateIntoPages(a, slots[:], x), posenc.RotateIntoPagesKV(a, slots[:], x, y),
		posenc.DequantizePages(x.Src, dst, posenc.DequantizeOptions{Tokens: 2, HeadDim: 64, Slots: slots[:]}))
}

func intoPagesAlone[S posenc.Element](a *kit.Arguments) kit.Call {
	return intoPagesCall[S](a, false)
}

func intoPagesBoth[S posenc.Element](a *kit.Arguments) kit.Call {
	return intoPagesCall[S](a, true)
}

// pagesOf returns a cache with room for tokens of heads of dim elements, and its record.
func pagesOf(a *kit.Arguments, tokens, heads, dim, hadamard int) (v posenc.PagedView, r generic.CacheRecord) {
	v.Format, v.Hadamard = posenc.PageFormat(1+a.Below(6)), hadamard
	if dim > 512 {
		v.Format = posenc.PageFormat(1 + a.Below(4))
	}
	r = generic.CacheRecord{CacheFormat: &generic.CacheFormats[v.Format], Dim: dim, Group: dim}
	if (v.Format == posenc.OpenVINOU8 || v.Format == posenc.OpenVINOU4) && dim%16 == 0 && a.Yes() {
		v.Group, r.Group = 16, 16
	}
	v.View = kit.ViewOfHeads[byte](a, (tokens+r.Tokens-1)/r.Tokens, heads, r.Bytes())
	if a.Ordinary() {
		for i := range v.Data {
			v.Data[i] = 0x3f // the bytes of scales and zero points too
		}
	}
	if r.Given {
		n := 1
		if a.Yes() {
			n = a.Size(heads, dim)
		}
		v.Scales = kit.Input[float32](a, n)
		for i, s := range v.Scales {
			if s-s != 0 && (!a.Any() || a.Yes()) {
				v.Scales[i] = 0.25
			}
		}
	}
	if a.Rarely() {
		v.Group = a.Number(0, 64)
	}
	return v, r
}

// recordAt returns the record of a slot and a head, and its scales.
func recordAt(v *posenc.PagedView, r *generic.CacheRecord, slot, h int) (record []byte, scales []float32) {
	scales = v.Scales
	if len(scales) > 1 {
		scales = scales[h*r.Dim:][:r.Dim]
	}
	return v.Data[kit.RowAt(&v.View, slot/r.Tokens, h, r.Bytes()):][:r.Bytes()], scales
}

type pagesArgument[S posenc.Element] struct {
	posenc.IntoPages[S]
	record generic.CacheRecord
	norms  [2]normArgument
	whole  bool
}

func pagesArgumentOf[S posenc.Element](a *kit.Arguments, dim, tokens, room, hadamard int, slots []int32) (x pagesArgument[S]) {
	slot := slotIn(slots)
	x.Src = kit.ViewOf[S](a, tokens, dim)
	if a.Any() && x.Src.Heads > 16 {
		x.Src.Heads = 1
	}
	for j, norm := range []**posenc.RMSNorm{&x.Norm, &x.RotatedNorm} {
		if a.Below(4) > 0 || dim < 1 {
			continue
		}
		n := dim
		if all := a.Size(x.Src.Heads, dim); a.Yes() && all <= 16384 {
			n, x.whole = all, x.Src.Heads > 1
		}
		x.norms[j] = normOf(a, n)
		*norm = x.norms[j].RMSNorm
	}
	x.Dst, x.record = pagesOf(a, room, x.Src.Heads, dim, hadamard)
	kit.BySlots(a, &x.Dst.View, slots)
	if a.Any() && a.Below(8) > 0 {
		x.Dst.Heads = x.Src.Heads
	}
	kit.Writes(a, func(mark func(s []byte)) {
		for t := range tokens {
			for h := 0; slot(t) >= 0 && h < x.Dst.Heads; h++ {
				record, _ := recordAt(&x.Dst, &x.record, slot(t), h)
				mark(record)
			}
		}
	})
	return x
}

// plain stores runs of tokens: tokens of one record with lower slots are read back first.
func (x *pagesArgument[S]) plain(p *plain, slot func(int) int, tokens int) {
	heads, dim, r := x.Src.Heads, x.record.Dim, &x.record
	prepared := preparedPlain(&x.Src, p, x.norms, tokens, dim)
	for t := 0; t < tokens; {
		at, n := slot(t), 1
		for at >= 0 && t+n < tokens && slot(t+n) == at+n && at/r.Tokens == (at+n)/r.Tokens {
			n++
		}
		for h := 0; at >= 0 && h < heads; h++ {
			first := at % r.Tokens
			rows := make([]float32, (first+n)*dim)
			record, scales := recordAt(&x.Dst, r, at, h)
			if first > 0 {
				r.Dequantize(rows, record, dim, 0, first, scales)
			}
			for i := range n {
				row := rows[(first+i)*dim:][:dim]
				copy(row, prepared[((t+i)*heads+h)*dim:])
				hadamardPlain(row, x.Dst.Hadamard)
			}
			r.Quantize(record, rows, dim, first+n, scales)
		}
		t += n
	}
}

// parts stores some heads at a time, and some tokens where no two share a record.
func (x *pagesArgument[S]) parts(c *kit.Choices, of func([]int) posenc.Angles, slot func(int) int, tokens int) (groups [][]func() error) {
	dim, heads, dst := x.record.Dim, []int{0, x.Src.Heads}, x.Dst
	if !x.whole {
		heads = c.Cut(x.Src.Heads)
	}
	if dst.HeadStride == 0 {
		dst.HeadStride = x.record.Bytes()
	}
	if dst.TokenStride == 0 {
		dst.TokenStride = dst.Heads * x.record.Bytes()
	}
	all := make([]int, tokens)
	for t := range all {
		all[t] = t
	}
	deal := [][]int{all}
	if x.record.Tokens == 1 {
		deal = c.Deal(tokens)
	}
	for _, part := range deal {
		slots := make([]int32, len(part))
		for i, token := range part {
			slots[i] = int32(slot(token))
		}
		for i, first := range heads[:len(heads)-1] {
			end, some := heads[i+1], x.IntoPages
			some.Dst, some.HeadDim = dst, dim
			some.Dst.Data, some.Dst.Heads, some.Dst.Tokens = dst.Data[min(first*dst.HeadStride, len(dst.Data)):], end-first, 0
			if len(dst.Scales) > 1 {
				some.Dst.Scales = dst.Scales[first*dim : end*dim]
			}
			groups = append(groups, []func() error{func() error {
				some.Src = taken(&x.Src, part, first, end, dim)
				return posenc.RotateIntoPages(of(part), slots, some)
			}})
		}
	}
	return groups
}

func intoPagesCall[S posenc.Element](a *kit.Arguments, both bool) kit.Call {
	hadamard, unit := hadamardOf(a, 16)
	if !a.Any() || a.Below(8) > 0 {
		a.HeadUnit = unit
	}
	angles, unrotated := uniformAngles(a), a.Below(3) == 0
	if unrotated {
		angles = unrotatedAngles(a)
	}
	tokens := angles.tokens
	slots, room := slotsOf(a, tokens)
	if slots != nil && !a.Any() && a.Yes() { // runs that cross records
		start := a.R.IntN(room - tokens + 1)
		for i := range slots {
			slots[i] = int32(start + i)
		}
	}
	slot := slotIn(slots)
	k := pagesArgumentOf[S](a, angles.headDim, tokens, room, hadamard, slots)
	if a.Rarely() {
		k.HeadDim = a.Number(0, 70)
		if unrotated && k.HeadDim != 0 {
			k.record.Dim, k.record.Group = k.HeadDim, k.HeadDim
		}
	}
	var v pagesArgument[S]
	if both {
		v = pagesArgumentOf[S](a, angles.headDim, tokens, room, 0, slots)
	}
	if !a.Any() && (k.record.Tokens > 1 || both && v.record.Tokens > 1) {
		slices.Sort(slots) // in a page they ascend
	}
	call := kit.Call{
		Run: func() error {
			if both {
				return posenc.RotateIntoPagesKV(angles.Angles, slots, k.IntoPages, v.IntoPages)
			}
			return posenc.RotateIntoPages(angles.Angles, slots, k.IntoPages)
		},
		Want: func() {
			p := angles.plain()
			rotation := &p
			if unrotated {
				rotation = nil
			}
			k.plain(rotation, slot, tokens)
			if both {
				v.plain(nil, slot, tokens)
			}
		},
	}
	if !twice(slots) && !a.Any() {
		call.Parts = func(c *kit.Choices) [][]func() error {
			groups := k.parts(c, angles.of, slot, tokens)
			if both {
				groups = append(groups, v.parts(c, func(tokens []int) posenc.Angles { return stackRotary().Unrotated(len(tokens)) }, slot, tokens)...)
			}
			return groups
		}
	}
	return call
}

func dequantizePagesCall[T posenc.Element](a *kit.Arguments) kit.Call {
	hadamard, unit := hadamardOf(a, 16)
	tokens, dim := min(a.Tokens(), 40), a.Length()
	if !a.Any() || a.Below(8) > 0 {
		dim = (dim + unit - 1) / unit * unit
	}
	src, record := pagesOf(a, tokens, a.Heads(), dim, hadamard)
	dst := kit.ViewOfHeads[T](a, tokens, src.Heads, dim)
	if a.Any() && a.Below(8) > 0 {
		dst.Heads = src.Heads
	}
	kit.WritesView(a, &dst, tokens, dim)
	var slots []int32
	if a.Yes() {
		slots = a.IDs(tokens, tokens)
		kit.BySlots(a, &src.View, slots)
	}
	slot := slotIn(slots)
	return kit.Call{
		Run: func() error {
			return posenc.DequantizePages(dst, src, posenc.DequantizeOptions{Tokens: tokens, HeadDim: dim, Slots: slots})
		},
		Want: func() {
			for t := range tokens {
				for h := range dst.Heads {
					row := make([]float32, dim)
					from, scales := recordAt(&src, &record, slot(t), h)
					record.Dequantize(row, from, dim, slot(t)%record.Tokens, 1, scales)
					hadamardPlain(row, src.Hadamard)
					for i, v := range row {
						dst.Data[kit.RowAt(&dst, t, h, dim)+i] = kit.Narrow[T](v)
					}
				}
			}
		},
	}
}
