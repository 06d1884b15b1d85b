package heads

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// Records is a cache in which a head of some tokens is a record: what a view.Operand calls a token are
// these tokens. It does what generic.CacheRecord does, by kernels.
type Records struct {
	view.Operand
	generic.CacheRecord
	Scales []float32 // one, one for each element of all heads, or none
}

// recordScales is the groups of as many numbers as scratch memory has, and the columns that are quantized at once.
const recordScales = kernels.FusedElements / 16

// RecordMemory is scratch memory for calls of Records.
type RecordMemory struct {
	scale, zero, inverse [recordScales]float32 // of given scales all zero points are the same
	codes                [kernels.FusedElements]uint8
}

// of returns head h of record at.
func (r *Records) of(at, h int) []uint8 {
	return unsafe.Slice((*uint8)(r.Data), r.Length)[r.Token(at)+h*r.HeadStride:]
}

// bytes returns how many bytes n codes are, and halves whether two of them are one.
func (r *Records) bytes(n int) int { return n * r.CacheFormat.Bits / 8 }
func (r *Records) halves() bool    { return r.CacheFormat.Bits == 4 }

// Quantize writes heads of n tokens, from head h on. The heads of a token lie in x one after another, FusedElements in all at most, or
// a head of all tokens of a page; x is changed. By channel the tokens are all that record at has, else they go to as many
// records that lie one after another.
func (r *Records) Quantize(m *RecordMemory, at, h, heads int, x []float32, n int) {
	switch {
	case r.Tokens > 1:
		r.quantizePage(m, at, h, heads, x, n)
	case !r.Given:
		r.quantizeGroups(m, at, h, heads, x, n)
	case len(r.Scales) > 1:
		r.eachColumns(heads, func(head, first, columns int) {
			v := kernels.Affine{Len: columns, Count: n, XStride: heads * r.Dim, YStride: r.TokenStride}
			for i, s := range r.Scales[(h+head)*r.Dim+first:][:columns] {
				m.inverse[i] = inverse(s)
			}
			r.quantize(m, r.of(at, h+head)[r.bytes(first):], x[head*r.Dim+first:], m.inverse[:columns], m.zero[:columns], &v)
		})
	default:
		m.inverse[0] = inverse(r.Scales[0])
		count, stride, rows := r.rows(heads, n)
		for row := range rows {
			v := kernels.Affine{Len: r.Dim, Count: count, XStride: r.Dim, YStride: stride}
			r.quantize(m, r.of(at+row, h), x[row*count*r.Dim:], m.inverse[:1], m.zero[:1], &v)
		}
	}
}

// inverse returns what multiplies numbers that are quantized by a given scale.
func inverse(scale float32) float32 {
	if scale == 0 {
		return 1
	}
	return 1 / scale
}

// eachColumns runs f for columns of heads, as many as memory has scales for.
func (r *Records) eachColumns(heads int, f func(head, first, columns int)) {
	for head := range heads {
		for first := 0; first < r.Dim; first += recordScales {
			f(head, first, min(recordScales, r.Dim-first))
		}
	}
}

func (r *Records) quantizePage(m *RecordMemory, at, h, heads int, x []float32, n int) {
	impl := dispatch.Implementation()
	r.eachColumns(heads, func(head, first, columns int) {
		record, x := r.of(at, h+head), x[head*r.Dim+first:]
		scale, zero, inverse := m.scale[:columns], m.zero[:columns], m.inverse[:columns]
		for i := range scale {
			zero[i], scale[i] = math.MaxFloat32, -math.MaxFloat32
		}
		v := kernels.Affine{Len: columns, Count: n, XStride: heads * r.Dim, YStride: r.bytes(r.Dim)}
		kernels.RangeColumnsF32(impl, zero, scale, x, &v)
		kernels.AffineScalesF32(impl, scale, zero, inverse, 1, 1/r.Largest)
		write(record[4*first:], scale)
		write(record[4*(r.Dim+first):], zero)
		for i, s := range scale {
			if s-s != 0 { // all codes are 0
				zero[i] = 0
				for t := range n {
					x[t*v.XStride+i] = 0
				}
			}
		}
		r.quantize(m, record[8*r.Dim+r.bytes(first):], x, inverse, zero, &v)
	})
}

func (r *Records) quantizeGroups(m *RecordMemory, at, h, heads int, x []float32, n int) {
	const unit = 16 // of AffineScalesF32
	impl, groups := dispatch.Implementation(), n*heads*r.Dim/r.Group
	all := (groups + unit - 1) / unit * unit
	scale, zero, inverse := m.scale[:all], m.zero[:all], m.inverse[:all]
	v := kernels.Affine{Len: r.Group, Count: groups, XStride: r.Group, ScaleStride: 1}
	kernels.RangeF32(impl, zero, scale, x, &v)
	kernels.AffineScalesF32(impl, scale, zero, inverse, r.Largest, 1)
	count, stride, rows := r.groupRows(heads, n)
	for row := range rows {
		i := row * count
		record := r.group(at, h, heads, i)
		for k := range count {
			s, z := scale[i+k], zero[i+k]
			binary.LittleEndian.PutUint64(record[k*stride:], uint64(math.Float32bits(z))<<32|uint64(math.Float32bits(s)))
			if s-s != 0 { // all codes are 0
				zero[i+k] = 0
				clear(x[(i+k)*r.Group:][:r.Group])
			}
		}
		v = kernels.Affine{Len: r.Group, Count: count, XStride: r.Group, YStride: stride, ScaleStride: 1}
		r.quantize(m, record[8:], x[i*r.Group:], inverse[i:], zero[i:], &v)
	}
}

// bytesOf is the memory of numbers.
func bytesOf(x []float32) []uint8 {
	return unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

// write writes numbers as a record has them, and read reads them.
func write(to []uint8, x []float32) {
	if littleEndian {
		copy(to, bytesOf(x))
		return
	}
	for i, v := range x {
		binary.LittleEndian.PutUint32(to[4*i:], math.Float32bits(v))
	}
}

func read(to []float32, x []uint8) {
	if littleEndian {
		copy(bytesOf(to), x)
		return
	}
	for i := range to {
		to[i] = math.Float32frombits(binary.LittleEndian.Uint32(x[4*i:]))
	}
}

// ByHead reports whether many tokens of a head are better than many heads of a token: they share scales, or their groups are
// equally far apart. (32 tokens of a head take half as long again to rotate as 4 of 8 heads.)
func (r *Records) ByHead() bool { return r.Columns() || r.Group < r.Dim }

// rows returns how many records, of heads of n tokens, are stride bytes apart, and how often there are as many: one head's or
// one token's.
func (r *Records) rows(heads, n int) (count, stride, rows int) {
	if heads == 1 {
		return n, r.TokenStride, 1
	}
	return heads, r.HeadStride, n
}

// groupRows is rows of groups.
func (r *Records) groupRows(heads, n int) (count, stride, rows int) {
	groups, size := r.Dim/r.Group, 8+r.bytes(r.Group)
	count, stride, rows = r.rows(heads, n)
	switch {
	case groups == 1:
		return count, stride, rows
	case stride == groups*size:
		return count * groups, size, rows
	}
	return groups, size, n * heads
}

// group returns the record of a token and a head from there on that has group i of heads.
func (r *Records) group(at, h, heads, i int) []uint8 {
	i /= r.Dim / r.Group
	return r.of(at+i/heads, h+i%heads)
}

// flip is what distinguishes codes of 8 bits from those less the least, and shift where the first of two lies.
func (r *Records) flip() (flip, shift uint8) {
	if r.HighFirst {
		shift = 4
	}
	if !r.halves() && r.Least < 0 {
		flip = 0x80
	}
	return flip, shift
}

// quantize writes codes of vectors, whose inverses and zero points are one for each, or, of one vector, those of its numbers.
func (r *Records) quantize(m *RecordMemory, y []uint8, x, inverse, zero []float32, v *kernels.Affine) {
	impl := dispatch.Implementation()
	flip, shift := r.flip()
	count, yStride := v.Count, v.YStride
	rows := count
	if r.halves() {
		rows = min(count, len(m.codes)/v.Len)
	}
	for done := 0; done < count; done += rows {
		to := y[done*yStride:]
		v.Count, v.YStride = min(rows, count-done), yStride
		if r.halves() {
			to, v.YStride = m.codes[:], v.Len
		}
		if r.Columns() {
			kernels.QuantizeAffineColumnsF32ToU8(impl, to, x[done*v.XStride:], inverse, zero, v, r.Least, r.Largest, flip)
		} else {
			kernels.QuantizeAffineF32ToU8(impl, to, x[done*v.XStride:], inverse[done*v.ScaleStride:], zero[done*v.ScaleStride:], v, r.Least, r.Largest, flip)
		}
		if r.halves() {
			packed := kernels.Affine{Len: v.Len, Count: v.Count, XStride: v.Len, YStride: yStride}
			kernels.PackNibblesU8ToU4(impl, y[done*yStride:], m.codes[:], &packed, shift)
		}
	}
}

// Columns reports whether the numbers of a vector have different scales.
func (r *Records) Columns() bool { return r.Tokens > 1 || len(r.Scales) > 1 }

// Begin prepares memory for calls of Dequantize.
func (r *Records) Begin(m *RecordMemory) {
	if r.Given {
		for i := range m.zero {
			m.zero[i] = -r.Least
		}
	}
}

// Dequantize reads what Quantize has written, n tokens from token first of record at on, or n records. Tokens go to places
// stride elements apart, by groups or one scale heads*Dim if there are several.
func (r *Records) Dequantize(m *RecordMemory, y []float32, stride, at, h, heads, first, n int) {
	switch {
	case r.Tokens > 1:
		r.eachColumns(heads, func(head, column, columns int) {
			record := r.of(at, h+head)
			read(m.scale[:columns], record[4*column:])
			read(m.zero[:columns], record[4*(r.Dim+column):])
			v := kernels.Affine{Len: columns, Count: n, XStride: r.bytes(r.Dim), YStride: stride}
			r.dequantize(m, y[head*r.Dim+column:], record[8*r.Dim+first*v.XStride+r.bytes(column):], m.scale[:columns], m.zero[:columns], &v)
		})
	case !r.Given:
		count, stride, rows := r.groupRows(heads, n)
		for row := range rows {
			i := row * count
			record := r.group(at, h, heads, i)
			for k := range count {
				bits := binary.LittleEndian.Uint64(record[k*stride:])
				m.scale[k], m.zero[k] = math.Float32frombits(uint32(bits)), math.Float32frombits(uint32(bits>>32))
			}
			v := kernels.Affine{Len: r.Group, Count: count, XStride: stride, YStride: r.Group, ScaleStride: 1}
			r.dequantize(m, y[i*r.Group:], record[8:], m.scale[:], m.zero[:], &v)
		}
	case len(r.Scales) > 1:
		r.eachColumns(heads, func(head, column, columns int) {
			v := kernels.Affine{Len: columns, Count: n, XStride: r.TokenStride, YStride: stride}
			r.dequantize(m, y[head*r.Dim+column:], r.of(at, h+head)[r.bytes(column):], r.Scales[(h+head)*r.Dim+column:], m.zero[:columns], &v)
		})
	default:
		count, stride, rows := r.rows(heads, n)
		for row := range rows {
			v := kernels.Affine{Len: r.Dim, Count: count, XStride: stride, YStride: r.Dim}
			r.dequantize(m, y[row*count*r.Dim:], r.of(at+row, h), r.Scales, m.zero[:1], &v)
		}
	}
}

// dequantize reads codes of vectors: see quantize.
func (r *Records) dequantize(m *RecordMemory, y []float32, x []uint8, scale, zero []float32, v *kernels.Affine) {
	impl := dispatch.Implementation()
	flip, shift := r.flip()
	count, xStride := v.Count, v.XStride
	rows := count
	if r.halves() {
		rows = min(count, len(m.codes)/v.Len)
	}
	for done := 0; done < count; done += rows {
		from := x[done*xStride:]
		v.Count, v.XStride = min(rows, count-done), xStride
		if r.halves() {
			packed := kernels.Affine{Len: v.Len, Count: v.Count, XStride: xStride, YStride: v.Len}
			kernels.UnpackNibblesU4ToU8(impl, m.codes[:], from, &packed, shift)
			from, v.XStride = m.codes[:], v.Len
		}
		if r.Columns() {
			kernels.DequantizeAffineColumnsU8ToF32(impl, y[done*v.YStride:], from, scale, zero, v, flip)
		} else {
			kernels.DequantizeAffineU8ToF32(impl, y[done*v.YStride:], from, scale[done*v.ScaleStride:], zero[done*v.ScaleStride:], v, flip)
		}
	}
}

// Run returns the record where token t goes, or -1, its place there, and how many of n tokens from t on go
// to the record, or to records one after another.
func (r *Records) Run(slots []int32, t, n int) (at, first, count int) {
	slot := Slot(slots, t)
	if slot < 0 {
		return -1, 0, 1
	}
	at, first = slot/r.Tokens, slot%r.Tokens
	if r.Tokens > 1 {
		n = min(n, r.Tokens-first)
	} else {
		n = r.Together(at, n)
	}
	for count = 1; count < n && Slot(slots, t+count) == slot+count; {
		count++
	}
	return at, first, count
}
