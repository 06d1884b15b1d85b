// Package array reads arrays that engines and scripts dump, from npy, npz and safetensors
// files, and writes npz and safetensors.
//
// Files may be damaged or hostile: what is wrong is an error. Reading takes a few times the size
// of the file, and up to 128 MiB for a small one; a file has at most 1 GiB of arrays.
package array

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/generic"
)

// Array is an array of numbers, its last dimension the innermost.
type Array struct {
	Name  string // "" in a npy file, which has no names
	Shape []int

	// Type names the type of the elements in the file: float32, bfloat16, uint8; or what the
	// file says, where Values is nil. Writing does not look at it.
	Type string

	// Values are []float32, []float64, []posenc.Float16, []posenc.BFloat16, []byte for types of 8
	// bits or, for other integers, []int64. nil is a type that this package does not read.
	Values any
}

// File is the arrays of a file and texts: README, for example.
type File struct {
	Arrays []Array
	Texts  map[string]string
}

// A kind is a type of elements in files.
type kind struct {
	name string // as in numpy and PyTorch
	npy  string // descr of npy, after the byte order
	safe string // dtype of safetensors
	size int
}

var (
	float16  = &kind{"float16", "f2", "F16", 2}
	bfloat16 = &kind{"bfloat16", "V2", "BF16", 2} // numpy has no such type: this is how ml_dtypes saves it
	float32s = &kind{"float32", "f4", "F32", 4}
	float64s = &kind{"float64", "f8", "F64", 8}
	int64s   = &kind{"int64", "i8", "I64", 8}

	kinds = []*kind{
		float16, bfloat16, float32s, float64s, int64s,
		{"int8", "i1", "I8", 1}, {"uint8", "u1", "U8", 1}, {"e4m3", "", "F8_E4M3", 1}, {"e5m2", "", "F8_E5M2", 1},
		{"float8", "V1", "", 1}, // as ml_dtypes saves all types of 8 bits
		{"int16", "i2", "I16", 2}, {"int32", "i4", "I32", 4},
		{"uint16", "u2", "U16", 2}, {"uint32", "u4", "U32", 4}, {"uint64", "u8", "U64", 8},
	}
)

// maxIntegers is the length of the longest array of integers: each takes 8 bytes here, of 2 in
// the file. Positions of a million tokens on four axes fit.
const maxIntegers = 1 << 22

// set sets the values of an array. It leaves them nil where there are too many integers.
func (a *Array) set(k *kind, data []byte, order binary.ByteOrder) (err error) {
	a.Type = k.name
	if strings.Contains(k.name, "int") && k.size > 1 && len(data)/k.size > maxIntegers {
		a.Type += fmt.Sprintf(" (%d of them, where 2^22 are read)", len(data)/k.size)
		return nil
	}
	a.Values, err = k.decode(data, order)
	return err
}

// decode returns the values of elements.
func (k *kind) decode(data []byte, order binary.ByteOrder) (any, error) {
	if k.size == 1 {
		return data, nil
	}
	switch k {
	case float16:
		return floats(data, 2, order, func(b []byte) posenc.Float16 { return posenc.Float16(order.Uint16(b)) }), nil
	case bfloat16:
		return floats(data, 2, order, func(b []byte) posenc.BFloat16 { return posenc.BFloat16(order.Uint16(b)) }), nil
	case float32s:
		return floats(data, 4, order, func(b []byte) float32 { return math.Float32frombits(order.Uint32(b)) }), nil
	case float64s:
		return elements(data, 8, func(b []byte) float64 { return math.Float64frombits(order.Uint64(b)) }), nil
	}
	values := elements(data, k.size, func(b []byte) int64 {
		switch k.name {
		case "int16":
			return int64(int16(order.Uint16(b)))
		case "int32":
			return int64(int32(order.Uint32(b)))
		case "uint16":
			return int64(order.Uint16(b))
		case "uint32":
			return int64(order.Uint32(b))
		}
		return int64(order.Uint64(b))
	})
	if k.name == "uint64" {
		for i, v := range values {
			if v < 0 {
				return nil, fmt.Errorf("element %d is %d, want at most %d", i, uint64(v), int64(math.MaxInt64))
			}
		}
	}
	return values, nil
}

// floats are elements, in place where the machine has their byte order.
func floats[T posenc.Element](data []byte, size int, order binary.ByteOrder, at func([]byte) T) []T {
	one := []byte{1, 0}
	if order.Uint16(one) == binary.NativeEndian.Uint16(one) {
		if values, err := posenc.FromBytes[T](data); err == nil {
			return values
		}
	}
	return elements(data, size, at)
}

func elements[T any](data []byte, size int, at func([]byte) T) []T {
	values := make([]T, len(data)/size)
	for i := range values {
		values[i] = at(data[i*size:])
	}
	return values
}

// encode returns the bytes of an array, little-endian, and their kind.
func (a *Array) encode() (*kind, []byte, error) {
	var k *kind
	var data []byte
	length := 0
	little := binary.LittleEndian
	switch values := a.Values.(type) {
	case []posenc.Float16:
		k, length = float16, len(values)
		for _, v := range values {
			data = little.AppendUint16(data, uint16(v))
		}
	case []posenc.BFloat16:
		k, length = bfloat16, len(values)
		for _, v := range values {
			data = little.AppendUint16(data, uint16(v))
		}
	case []float32:
		k, length = float32s, len(values)
		for _, v := range values {
			data = little.AppendUint32(data, math.Float32bits(v))
		}
	case []float64:
		k, length = float64s, len(values)
		for _, v := range values {
			data = little.AppendUint64(data, math.Float64bits(v))
		}
	case []int64:
		k, length = int64s, len(values)
		for _, v := range values {
			data = little.AppendUint64(data, uint64(v))
		}
	default:
		return nil, nil, fmt.Errorf("array %q: Values is %T, want a slice of float32, float64, posenc.Float16, posenc.BFloat16 or int64", a.Name, a.Values)
	}
	if n, ok := count(a.Shape); !ok || n != length {
		return nil, nil, fmt.Errorf("array %q: %d elements, want those of shape %v", a.Name, length, a.Shape)
	}
	return k, data, nil
}

// maxDimensions is that of numpy.
const maxDimensions = 64

// checkDimensions fails for more dimensions than an error can show.
func checkDimensions(n int) error {
	if n > maxDimensions {
		return fmt.Errorf("%d dimensions: want at most %d", n, maxDimensions)
	}
	return nil
}

// count is the number of elements of a shape, if it is one of int.
func count(shape []int) (int, bool) {
	n, zero := 1, false
	for _, v := range shape {
		if v < 0 {
			return 0, false
		}
		if v == 0 {
			zero = true
			continue
		}
		if n > math.MaxInt/v {
			return 0, false
		}
		n *= v
	}
	if zero {
		return 0, true
	}
	return n, true
}

// Float32s returns the numbers as float32, none of them rounded: an error names the first
// of float64 or of an integer that float32 does not have.
func (a *Array) Float32s() ([]float32, error) {
	switch values := a.Values.(type) {
	case []float32:
		return values, nil
	case []posenc.Float16:
		return widen(values, generic.Float16ToFloat32), nil
	case []posenc.BFloat16:
		return widen(values, generic.BFloat16ToFloat32), nil
	case []float64:
		narrow := make([]float32, len(values))
		for i, v := range values {
			narrow[i] = float32(v)
			if float64(narrow[i]) != v && !math.IsNaN(v) {
				return nil, fmt.Errorf("element %d of float64 is %v, which is no float32: want numbers that the engine computed in float32, float16 or bfloat16", i, v)
			}
		}
		return narrow, nil
	}
	return nil, fmt.Errorf("type %s: want float32, float16, bfloat16, or float64 with numbers of float32", a.Type)
}

func widen[B ~uint16](values []B, to func(uint16) float32) []float32 {
	wide := make([]float32, len(values))
	for i, v := range values {
		wide[i] = to(uint16(v))
	}
	return wide
}

// Int32s returns the numbers as int32, as positions are. Floats that are whole numbers are
// integers too.
func (a *Array) Int32s() ([]int32, error) {
	if values, ok := a.Values.([]byte); ok && strings.Contains(a.Type, "int") {
		wide := make([]int32, len(values))
		for i, v := range values {
			if wide[i] = int32(v); a.Type == "int8" {
				wide[i] = int32(int8(v))
			}
		}
		return wide, nil
	}
	if values, ok := a.Values.([]int64); ok {
		narrow := make([]int32, len(values))
		for i, v := range values {
			narrow[i] = int32(v)
			if int64(narrow[i]) != v {
				return nil, fmt.Errorf("element %d is %d: want an integer of 32 bits", i, v)
			}
		}
		return narrow, nil
	}
	floats, err := a.Float32s()
	if err != nil {
		return nil, fmt.Errorf("type %s: want integers", a.Type)
	}
	narrow := make([]int32, len(floats))
	for i, v := range floats {
		if v != v || math.Abs(float64(v)) >= 1<<31 || float64(v) != math.Trunc(float64(v)) {
			return nil, fmt.Errorf("element %d is %v: want an integer of 32 bits", i, v)
		}
		narrow[i] = int32(v)
	}
	return narrow, nil
}
