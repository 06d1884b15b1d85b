package heads

import (
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/view"
)

// Records is a cache in which a head of some tokens is a record: what a view.Operand calls a token are
// these tokens.
type Records struct {
	view.Operand
	generic.CacheRecord
	Scales []float32 // one, one for each element of all heads, or none
}

// of returns head h of record at, and its scales.
func (r *Records) of(at, h int) (record []uint8, scales []float32) {
	record, scales = unsafe.Slice((*uint8)(r.Data), r.Length)[r.Token(at)+h*r.HeadStride:], r.Scales
	if len(scales) > 1 {
		scales = scales[h*r.Dim:]
	}
	return record, scales
}

// Quantize writes heads of n tokens, from head h on, to record at. The heads of a token lie in x one after another.
func (r *Records) Quantize(at, h, heads int, x []float32, n int) {
	for i := range heads {
		record, scales := r.of(at, h+i)
		r.CacheRecord.Quantize(record, x[i*r.Dim:], heads*r.Dim, n, scales)
	}
}

// Dequantize reads what Quantize has written, n tokens from token first of the record on.
func (r *Records) Dequantize(y []float32, at, h, heads, first, n int) {
	for i := range heads {
		record, scales := r.of(at, h+i)
		r.CacheRecord.Dequantize(y[i*r.Dim:], record, heads*r.Dim, first, n, scales)
	}
}

// Run returns the record where token t goes, or -1, its place there, and how many of n tokens from t on go
// to the record one after another.
func (r *Records) Run(slots []int32, t, n int) (at, first, count int) {
	slot := Slot(slots, t)
	if slot < 0 {
		return -1, 0, 1
	}
	at, first, count = slot/r.Tokens, slot%r.Tokens, 1
	for count < min(n, r.Tokens-first) && Slot(slots, t+count) == slot+count {
		count++
	}
	return at, first, count
}
