package kernels

import (
	"unsafe"

	"github.com/go-posenc/posenc/generic"
)

// Kind is the type of an element at run time, so that one body serves all types.
type Kind uint8

const (
	KindFloat32 Kind = iota
	KindFloat16
	KindBFloat16
	KindInt8
	KindE4M3
	KindE5M2
	KindQ8 // blocks of numbers, from here on
	KindQ4_0
	KindQ4_1
	KindQ5_0
	KindQ5_1
	KindIQ4_NL
	KindMXFP4Floor
	KindMXFP4RCeil
	KindMXFP4Even
	KindNVFP4
	KindGGMLMXFP4
	KindGGMLNVFP4
)

// blockBytes are the bytes of a block of each kind of blocks.
var blockBytes = [...]uint8{
	generic.Q8Bytes, generic.Q4_0Bytes, generic.Q4_1Bytes, generic.Q5_0Bytes, generic.Q5_1Bytes, generic.IQ4_NLBytes,
	generic.MXFP4Bytes, generic.MXFP4Bytes, generic.MXFP4Bytes, generic.NVFP4Bytes, generic.MXFP4Bytes, generic.GGMLNVFP4Bytes,
}

// mxfp4Raise is added to the bits of the largest magnitude of a block, before the exponent less 2 becomes the
// scale. By MXFP4RCeil it raises the exponent above 1.5 times a power of two, by MXFP4Even from 1.75 times one on.
var mxfp4Raise = [...]uint32{generic.MXFP4Floor: 0, generic.MXFP4RCeil: 1<<22 - 1, generic.MXFP4Even: 1 << 21}

// KindOf returns the kind of T, which is float32 or one of the two types of 16 bits.
func KindOf[T, F16, BF16 any]() Kind {
	var zero T
	if unsafe.Sizeof(zero) == 4 { // known to the compiler, unlike the type
		return KindFloat32
	}
	switch any(zero).(type) {
	case F16:
		return KindFloat16
	case BF16:
		return KindBFloat16
	}
	return KindFloat32
}

// Size returns the bytes of an element.
func (k Kind) Size() uintptr {
	switch {
	case k >= KindQ8:
		return uintptr(blockBytes[k-KindQ8])
	case k == KindFloat32:
		return 4
	case k <= KindBFloat16:
		return 2
	}
	return 1
}

// Numbers returns how many numbers an element is.
func (k Kind) Numbers() int {
	switch {
	case k < KindQ8:
		return 1
	case k == KindNVFP4:
		return generic.NVFP4Numbers
	case k == KindGGMLNVFP4:
		return generic.GGMLNVFP4Numbers
	}
	return generic.Block
}
