package posenc

import (
	"unsafe"

	"github.com/go-posenc/posenc/kernels"
)

// Float16 holds the bits of an IEEE 754 binary16 number.
type Float16 uint16

// BFloat16 holds the bits of a bfloat16 number: the upper half of a float32.
type BFloat16 uint16

// Element is the type of the elements of Q and K. Arithmetic is in float32: 16-bit
// elements are widened, which is exact, and each result is rounded to their type once.
type Element interface{ float32 | Float16 | BFloat16 }

// Float16s returns float16 numbers as elements, without copying: a []uint16, or the 16-bit
// type of another package. The caller guarantees that the bits are float16.
func Float16s[B ~uint16](bits []B) []Float16 {
	return unsafe.Slice((*Float16)(unsafe.Pointer(unsafe.SliceData(bits))), cap(bits))[:len(bits)]
}

// BFloat16s is [Float16s] for bfloat16 numbers.
func BFloat16s[B ~uint16](bits []B) []BFloat16 {
	return unsafe.Slice((*BFloat16)(unsafe.Pointer(unsafe.SliceData(bits))), cap(bits))[:len(bits)]
}

func kindOf[T Element]() kernels.Kind { return kernels.KindOf[T, Float16, BFloat16]() }
