package testkit

import (
	"unsafe"

	"github.com/go-posenc/posenc"
)

// Words returns numbers of 16 bits as what the kernels take.
func Words[T posenc.Float16 | posenc.BFloat16](s []T) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// FirstDifference returns the index where a and b are not the same, or -1.
func FirstDifference[T posenc.Element](a, b []T) int {
	switch a := any(a).(type) {
	case []float32:
		return Differs(&Float32Numbers, a, any(b).([]float32))
	case []posenc.Float16:
		return Differs(&Float16Numbers, Words(a), Words(any(b).([]posenc.Float16)))
	default:
		return Differs(&Bfloat16Numbers, Words(any(a).([]posenc.BFloat16)), Words(any(b).([]posenc.BFloat16)))
	}
}

func Differs[T Number](of *Numbers[T], a, b []T) int {
	for i := range a {
		if !of.Same(a[i], b[i]) {
			return i
		}
	}
	return -1
}

// GoldenInputs returns what testdata/rmsnorm/generate.py starts from.
func GoldenInputs(start, n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32((uint64(start+i)*2654435761+97)%(1<<24)) - 1<<23
		s[i] /= 1 << 21
	}
	return s
}
