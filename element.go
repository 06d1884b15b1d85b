package posenc

import (
	"fmt"
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/argument"
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

func kindOf[T any]() kernels.Kind { return kernels.KindOf[T, Float16, BFloat16]() }

// Quantized is the type of the numbers in a cache: those of 4 to 8 bits, and those of [Element], as which
// numbers are stored rounded once. Float types are for caches beside quantized ones: keys of 8 bits and values
// of 16, or raw keys. Where all caches are of floats, take [RotateInto]. Let y be a float32 that is quantized,
// and RN32 rounding to the nearest float32, ties to even:
//
//	Q8_0   d = RN32(amax/127) for 32 numbers, amax = max |y|; kept as the nearest float16
//	       q = RN32(y*RN32(1/d)) rounded to an integer, halves away from zero; 0 where d is 0
//	       or RN32(1/d) infinite
//	       (ggml: quantize_row_q8_0_ref)
//	int8   scale = max(RN32(amax/127), 1e-6), for each token and head
//	       q = RN32(y/scale) rounded to an integer, halves to even (vLLM)
//	E4M3   RN32(y*InverseScale) rounded to E4M3FN, ties to even, at most 448 in magnitude
//	       (FlashInfer, vLLM); or RN32(y/scale) with scale = max(RN32(amax/448), 1e-6), for
//	       each token and head
//	E5M2   RN32(y*InverseScale) rounded to E5M2, ties to even, at most 57344 in magnitude
//
//	Q4_0   d = RN32(max/-8) for 32 numbers, max = the first y of the largest magnitude;
//	       q = RN32(RN32(y*RN32(1/d))+8.5) cut to an integer, at most 15
//	Q5_0   as Q4_0, with -16, 16.5 and 31
//	Q4_1   d = RN32(RN32(max y-m)/15) for 32 numbers, m = the first of the least y;
//	       q = RN32(RN32(RN32(y-m)*RN32(1/d))+0.5) cut to an integer, at most 15
//	Q5_1   as Q4_1, with 31 for 15
//	IQ4_NL q = the index of the level nearest to RN32(y*RN32(1/RN32(max/-127))) for 32 numbers, of
//	       two the larger; d = the quotient of two sums: see generic.QuantizeF32ToIQ4_NL
//	       (ggml: quantize_row_q4_0_ref and so on; d and m are kept as the nearest float16)
//
//	MXFP4Floor scale = 2^e for 32 numbers, e = floor(log2(amax))-2, at least -127 (OCP MX 1.0)
//	           y/scale rounded to E2M1 (0, 0.5, 1, 1.5, 2, 3, 4, 6), ties to even, at most 6 in
//	           magnitude
//	MXFP4RCeil as MXFP4Floor, with e = ceil(log2(RN32(amax/6))) (NVIDIA)
//	MXFP4Even  as MXFP4Floor, with amax first rounded to one binary digit after the point, halves up
//	NVFP4      scale = RN32(amax/6) for 16 numbers, from 2^-6 to 448, rounded to E4M3, ties to even
//	           RN32(y*RN32(1/scale)) rounded as in MXFP4 (torchao, without a scale of the tensor)
//
// With one InverseScale for all numbers, infinities become the largest number and NaN becomes the
// code 0x7f. Else a block or head with an infinity or a NaN is read back as NaN: in Q8_0, int8 and
// E4M3, d or scale is infinite or NaN, q is 0 and an E4M3 0x7f; in formats of 4 and 5 bits, d is the
// float16 0x7e00 and the other bytes are 0, also where a block of Q4_1 or Q5_1 has an infinite range; in
// MXFP4 and NVFP4 the scale is NaN, 255 and 0x7f, and codes are 0. Where RN32(1/d) is
// infinite, it counts as 0. A block of IQ4_NL whose magnitudes are below 1e-15 has bytes 0.
type Quantized interface {
	Element | Q8_0 | int8 | E4M3 | E5M2 | Q4_0 | Q4_1 | Q5_0 | Q5_1 | IQ4_NL | MXFP4Floor | MXFP4RCeil | MXFP4Even | NVFP4
}

// Q8_0 is a block of 32 numbers in ggml's format: number i is Q[i] times the float16 D,
// whose bytes are little-endian.
type Q8_0 struct {
	D [2]byte
	Q [generic.Block]int8
}

// Q4_0 is a block of 32 numbers in ggml's format: number i is q-8 times the float16 D, where q is the
// lower half of Q[i] for i < 16, and the upper half of Q[i-16] from there on.
type Q4_0 struct {
	D [2]byte
	Q [generic.Block / 2]byte
}

// Q4_1 is a block of 32 numbers in ggml's format: number i is q times the float16 D, plus the float16 M,
// with q as in [Q4_0].
type Q4_1 struct {
	D, M [2]byte
	Q    [generic.Block / 2]byte
}

// Q5_0 is a block of 32 numbers in ggml's format: number i is q-16 times the float16 D, where bit i of the
// little-endian H is bit 4 of q, and the others are as in [Q4_0].
type Q5_0 struct {
	D [2]byte
	H [generic.Block / 8]byte
	Q [generic.Block / 2]byte
}

// Q5_1 is a block of 32 numbers in ggml's format: number i is q times the float16 D, plus the float16 M,
// with q as in [Q5_0].
type Q5_1 struct {
	D, M [2]byte
	H    [generic.Block / 8]byte
	Q    [generic.Block / 2]byte
}

// IQ4_NL is a block of 32 numbers in ggml's format: number i is the float16 D times level q of -127, -104,
// -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89 and 113, with q as in [Q4_0].
type IQ4_NL struct {
	D [2]byte
	Q [generic.Block / 2]byte
}

// MXFP4Floor is a block of 32 numbers of OCP's MXFP4: number i is 2^(Scale-127) times the number of E2M1
// whose code is the lower half of Codes[i/2] for even i, and the upper half for odd ones. Bit 3 of a
// code is the sign. With the Scale 255 all are NaN. Where codes and scales are in two tensors, as in
// PyTorch, copy them into blocks. The rule for the scale is part of the type, as writers differ in it.
type MXFP4Floor struct {
	Scale byte
	Codes [generic.Block / 2]byte
}

// MXFP4RCeil is [MXFP4Floor] with the scale that NVIDIA's kernels and DeepSeek choose. It is read in the same way.
type MXFP4RCeil struct {
	Scale byte
	Codes [generic.Block / 2]byte
}

// MXFP4Even is [MXFP4Floor] with the scale that torchao calls EVEN. It is read in the same way.
type MXFP4Even struct {
	Scale byte
	Codes [generic.Block / 2]byte
}

// NVFP4 is a block of 16 numbers: number i is Scale, of E4M3, times the number of E2M1 whose code is in
// Codes as in [MXFP4Floor]. Where a tensor has a scale of its own, multiply what is read by it.
type NVFP4 struct {
	Scale byte
	Codes [generic.NVFP4Numbers / 2]byte
}

// E4M3 is the code of an 8-bit number with 4 bits of exponent and without infinities:
// E4M3FN of the OCP 8-bit floating point specification.
type E4M3 uint8

// E5M2 is the code of an 8-bit number with 5 bits of exponent.
type E5M2 uint8

// FromBytes returns the bytes of numbers as numbers, without copying: tensors of a file that is
// mapped into memory, the pages of a cache. The bytes have the order of the machine, and blocks
// are little-endian on every machine. Errors wrap ErrLength (bytes of a part of a number) or
// ErrShape (numbers of two or four bytes that begin at another address than a multiple of that).
func FromBytes[T Quantized](bytes []byte) ([]T, error) {
	const function = "posenc.FromBytes"
	var zero T
	size, align := int(unsafe.Sizeof(zero)), unsafe.Alignof(zero)
	if len(bytes)%size != 0 {
		return nil, argument.Error(ErrLength, function, "bytes", argument.Elements(len(bytes)), "a multiple of the %d bytes of a number", size)
	}
	first := unsafe.Pointer(unsafe.SliceData(bytes))
	if rest := uintptr(first) % align; rest != 0 && len(bytes) > 0 {
		return nil, argument.Error(ErrShape, function, "bytes", fmt.Sprintf("%d bytes behind a multiple of %d", rest, align), "at an address that is a multiple of %d", align)
	}
	return unsafe.Slice((*T)(first), cap(bytes)/size)[:len(bytes)/size], nil
}

// quantizedKind returns the kind of D.
func quantizedKind[D Quantized]() kernels.Kind {
	var zero D
	if unsafe.Sizeof(zero) == generic.Q8Bytes { // known to the compiler, unlike the type
		return kernels.KindQ8
	}
	switch any(zero).(type) {
	case E4M3:
		return kernels.KindE4M3
	case E5M2:
		return kernels.KindE5M2
	case Q4_0:
		return kernels.KindQ4_0
	case Q4_1:
		return kernels.KindQ4_1
	case Q5_0:
		return kernels.KindQ5_0
	case Q5_1:
		return kernels.KindQ5_1
	case IQ4_NL:
		return kernels.KindIQ4_NL
	case MXFP4Floor:
		return kernels.KindMXFP4Floor
	case MXFP4RCeil:
		return kernels.KindMXFP4RCeil
	case MXFP4Even:
		return kernels.KindMXFP4Even
	case NVFP4:
		return kernels.KindNVFP4
	case float32, Float16, BFloat16:
		return kindOf[D]()
	}
	return kernels.KindI8
}
