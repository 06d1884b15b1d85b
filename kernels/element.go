package kernels

import (
	"unsafe"

	"github.com/go-posenc/posenc/generic"
)

// Kind is the type of an element at run time, so that one body serves all types.
type Kind uint8

const (
	Float32 Kind = iota
	Float16
	BFloat16
	Int8
	E4M3
	E5M2
	Q8 // blocks of Q8_0
)

// KindOf returns the kind of T, which is float32 or one of the two types of 16 bits.
func KindOf[T, F16, BF16 any]() Kind {
	var zero T
	if unsafe.Sizeof(zero) == 4 { // known to the compiler, unlike the type
		return Float32
	}
	switch any(zero).(type) {
	case F16:
		return Float16
	case BF16:
		return BFloat16
	}
	return Float32
}

// Size returns the bytes of an element.
func (k Kind) Size() uintptr {
	switch k {
	case Float32:
		return 4
	case Float16, BFloat16:
		return 2
	case Q8:
		return generic.Q8Bytes
	}
	return 1
}
