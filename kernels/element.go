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
	KindI8
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
)

// formats has what package posenc has to know of each kind.
var formats = [...]struct {
	bytes, numbers  uint8 // of an element
	scales, inverse bool  // a cache has a scale for each head, or one inverse scale; E4M3 has either
}{
	KindFloat32:    {bytes: 4, numbers: 1},
	KindFloat16:    {bytes: 2, numbers: 1},
	KindBFloat16:   {bytes: 2, numbers: 1},
	KindI8:         {bytes: 1, numbers: 1, scales: true},
	KindE4M3:       {bytes: 1, numbers: 1, scales: true, inverse: true},
	KindE5M2:       {bytes: 1, numbers: 1, inverse: true},
	KindQ8:         {bytes: generic.Q8Bytes, numbers: generic.Block},
	KindQ4_0:       {bytes: generic.Q4_0Bytes, numbers: generic.Block},
	KindQ4_1:       {bytes: generic.Q4_1Bytes, numbers: generic.Block},
	KindQ5_0:       {bytes: generic.Q5_0Bytes, numbers: generic.Block},
	KindQ5_1:       {bytes: generic.Q5_1Bytes, numbers: generic.Block},
	KindIQ4_NL:     {bytes: generic.IQ4_NLBytes, numbers: generic.Block},
	KindMXFP4Floor: {bytes: generic.MXFP4Bytes, numbers: generic.Block},
	KindMXFP4RCeil: {bytes: generic.MXFP4Bytes, numbers: generic.Block},
	KindMXFP4Even:  {bytes: generic.MXFP4Bytes, numbers: generic.Block},
	KindNVFP4:      {bytes: generic.NVFP4Bytes, numbers: generic.NVFP4Numbers},
}

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
func (k Kind) Size() uintptr { return uintptr(formats[k].bytes) }

// Numbers returns how many numbers an element is.
func (k Kind) Numbers() int { return int(formats[k].numbers) }

// Scaled returns whether caches of a kind have a scale for each head, and whether one for all.
func (k Kind) Scaled() (heads, all bool) { return formats[k].scales, formats[k].inverse }
