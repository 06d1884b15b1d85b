package ropecheck

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/argument"
)

// Stored says that heads were read from a cache of 8-bit numbers.
type Stored struct {
	Format Format

	// Errors is by how much storing moved each number of the cache at most: half a step of its code,
	// [Tokens][Heads][HeadDim].
	Errors []float32

	// Hadamard is the block of the transform that was taken back, see [posenc.Hadamard]; 0: none.
	Hadamard int
}

// Format is a format in which posenc stores keys, see [posenc.Quantized].
type Format string

const (
	Q8_0 Format = "q8_0"
	Int8 Format = "int8"
	E4M3 Format = "e4m3"
	E5M2 Format = "e5m2"
)

// Formats are all formats.
func Formats() []Format { return []Format{Q8_0, Int8, E4M3, E5M2} }

// bytesOfBlock are those of 32 numbers of Q8_0: a float16 and 32 codes.
const bytesOfBlock = 2 + generic.Block

// Bytes returns how many bytes n numbers take; ok is false for a part of a block.
func (f Format) Bytes(n int) (bytes int, ok bool) {
	if f == Q8_0 {
		return n / generic.Block * bytesOfBlock, n%generic.Block == 0
	}
	return n, true
}

// Read returns the numbers of a cache, and by how much storing moved each at most. Scales are float32, or
// numbers of another type: code i is times scale(i), which Q8_0 does not call.
//
// A number y is stored as the code nearest to y/scale, so that code*scale is at most half the
// distance of neighbouring codes, times the scale, away. A scale that was itself rounded moves it by code
// times that rounding.
//
// A scale of a block that is negative or not finite is an error: ggml's reference writes none.
func (f Format) Read(codes []byte, scale func(i int) float32, scales ElementType) (values, errors []float32, err error) {
	n := len(codes)
	if f == Q8_0 {
		n = len(codes) / bytesOfBlock * generic.Block
	}
	values, errors = make([]float32, n), make([]float32, n)
	var numbers, halves [256]float32
	for code := range numbers {
		numbers[code], halves[code] = float32(int8(code)), 0.5
		if number := map[Format]func(byte) float32{E4M3: generic.E4M3ToFloat32, E5M2: generic.E5M2ToFloat32}[f]; number != nil {
			numbers[code], halves[code] = number(byte(code)), halfStep(byte(code), number)
		}
	}
	if f == Q8_0 {
		scales = Float16
	}
	s, rounding := float32(math.NaN()), float32(0)
	for i := range values {
		var code byte
		var of float32
		if f == Q8_0 {
			block := codes[i/generic.Block*bytesOfBlock:]
			code, of = block[2+i%generic.Block], generic.Float16ToFloat32(binary.LittleEndian.Uint16(block))
			if !(of >= 0 && of <= math.MaxFloat32) {
				return nil, nil, fmt.Errorf("block %d: scale %v: want a finite number of at least 0", i/generic.Block, of)
			}
		} else {
			code, of = codes[i], scale(i)
		}
		if of != s {
			s, rounding = of, float32(scales.ulp(float64(of))/2)
		}
		number := numbers[code]
		values[i] = number * s
		errors[i] = halves[code]*(s+rounding) + max(number, -number)*rounding
	}
	return values, errors, nil
}

// halfStep is half the distance from a code of 8 bits to its neighbours, the larger one of two.
func halfStep(code byte, number func(byte) float32) float32 {
	magnitude := code & 0x7f
	x, half := number(magnitude), float32(0)
	for _, other := range [...]byte{magnitude - 1, magnitude + 1} {
		if d := number(other&0x7f) - x; d-d == 0 {
			half = max(half, float32(math.Abs(float64(d)))/2)
		}
	}
	return half
}

// check checks what is stored of the n elements of data.
func (s *Stored) check(d *Data, n int) error {
	fail := func(kind error, field string, value any, expected string, args ...any) error {
		return argument.Error(kind, function, "data.Stored."+field, value, expected, args...)
	}
	switch {
	case !slices.Contains(Formats(), s.Format):
		return fail(posenc.ErrConfig, "Format", s.Format, "one of %q", Formats())
	case len(s.Errors) != n:
		return fail(posenc.ErrLength, "Errors", argument.Elements(len(s.Errors)), "%d, one for each element", n)
	case s.Hadamard < 0 || s.Hadamard > 0 && d.HeadDim%s.Hadamard != 0:
		return fail(posenc.ErrConfig, "Hadamard", s.Hadamard, "0, or a block that divides data.HeadDim %d", d.HeadDim)
	}
	for i, e := range s.Errors {
		if !(e >= 0 && e <= math.MaxFloat32) {
			return fail(ErrValue, fmt.Sprintf("Errors[%d]", i), e, "a finite number, at least 0")
		}
	}
	// Errors in a step are uniform: their root mean square is the half step's by sqrt(3).
	if noise := s.residual(d.After) / math.Sqrt(3); noise >= noStructure {
		return fail(ErrValue, "Errors", fmt.Sprintf("%.2g of the heads, typically", noise), "less than %v: codes of such coarse steps say nothing of the rotation", noStructure)
	}
	return nil
}

// residual is the largest that storing explains.
func (s *Stored) residual(after []float32) float64 {
	if s == nil {
		return 0
	}
	var errors, energy float64
	for i, e := range s.Errors {
		errors, energy = errors+float64(e)*float64(e), energy+float64(after[i])*float64(after[i])
	}
	if energy == 0 {
		return 0
	}
	return math.Sqrt(errors / energy)
}

// bounds are by how much storing moved each element at most. Each element that a Hadamard transform makes is
// a sum of those of its block, each times 1/sqrt(block).
func (s *Stored) bounds() []float32 {
	if s == nil {
		return nil
	}
	if s.Hadamard == 0 {
		return s.Errors
	}
	list := make([]float32, 0, len(s.Errors))
	for block := range slices.Chunk(s.Errors, s.Hadamard) {
		sum := 0.0
		for _, e := range block {
			sum += float64(e)
		}
		list = append(list, slices.Repeat([]float32{float32(sum / math.Sqrt(float64(s.Hadamard)))}, s.Hadamard)...)
	}
	return list
}
