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
	KindQ8 // blocks of Q8_0
)

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
	switch k {
	case KindFloat32:
		return 4
	case KindFloat16, KindBFloat16:
		return 2
	case KindQ8:
		return generic.Q8Bytes
	}
	return 1
}
