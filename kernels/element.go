package kernels

import "unsafe"

// Kind is the type of an element at run time, so that one body serves all types.
type Kind uint8

const (
	Float32 Kind = iota
	Float16
	BFloat16
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
	if k == Float32 {
		return 4
	}
	return 2
}
