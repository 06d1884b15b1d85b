package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/cmd/posenc/internal/array"
	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
	"github.com/go-posenc/posenc/internal/ropecheck"
)

// storedOptions say how keys are stored in a cache.
type storedOptions struct {
	format, scales string
	hadamard       int
}

// check fails for flags of a cache without its format, or a format without its flags.
func (o *storedOptions) check() error {
	format := ropecheck.Format(o.format)
	switch {
	case o.format == "" && o.scales != "":
		return errors.New("--scales: want --cache, the format of the codes")
	case o.format == "" && o.hadamard != 0:
		return errors.New("--hadamard: want --cache, the format that keys have after the transform")
	case o.format == "":
		return nil
	case !slices.Contains(ropecheck.Formats(), format):
		return fmt.Errorf("--cache %s: want one of %v", o.format, ropecheck.Formats())
	case format == ropecheck.Q8_0 && o.scales != "":
		return errors.New("--scales: want none, as blocks of q8_0 have them")
	case format != ropecheck.Q8_0 && o.scales == "":
		return fmt.Errorf("--cache %s: want --scales, what codes are multiplied by: a number, or an array", o.format)
	}
	return nil
}

// readBytes reads the codes of heads of a shape from a file that has nothing else.
func (o *storedOptions) readBytes(path string, before []int) (*array.Array, error) {
	n := 1
	for _, size := range before {
		n *= size
	}
	bytes, whole := ropecheck.Format(o.format).Bytes(n)
	if !whole {
		return nil, fmt.Errorf("%s: %d elements before: want whole blocks of 32", input.Name(path), n)
	}
	return array.ReadBytes(path, bytes, fmt.Sprintf("heads of shape %v in %s", before, o.format))
}

// read returns the numbers of a cache that argument names, and how they are stored, in the order of the heads
// before.
func (o *storedOptions) read(files dumps, argument string, codes *array.Array, before []int) (values []float32, stored *ropecheck.Stored, err error) {
	format := ropecheck.Format(o.format)
	fail := func(text string, a ...any) ([]float32, *ropecheck.Stored, error) {
		return nil, nil, fmt.Errorf("%s: "+text, append([]any{input.Name(argument)}, a...)...)
	}
	all, ok := codes.Values.([]byte)
	if !ok || slices.Contains([]string{string(ropecheck.E4M3), string(ropecheck.E5M2)}, codes.Type) && codes.Type != o.format {
		return fail("type %s: want codes of %s, of 8 bits", codes.Type, o.format)
	}
	n := 1
	for _, size := range before {
		n *= size
	}
	bytes, whole := format.Bytes(n)
	last := max(0, len(before)-1)
	isBlocks := format == ropecheck.Q8_0
	size := codes.Shape
	switch {
	case !whole:
		return fail("%d elements before: want whole blocks of 32", n)
	case len(all) != bytes:
		return fail("%d bytes of shape %v: want %d, those of heads of shape %v in %s", len(all), size, bytes, before, format)
	case len(size) > 1 && (!slices.Equal(size[:min(last, len(size))], before[:last]) || !isBlocks && len(size) != len(before)): // not bytes alone
		return fail("shape %v: want the heads of shape %v before", codes.Shape, before)
	}
	scale, of, err := o.scaleOf(files, before)
	if err != nil {
		return nil, nil, err
	}
	stored = &ropecheck.Stored{Format: format, Hadamard: o.hadamard}
	if values, stored.Errors, err = format.Read(all, scale, of); err != nil {
		return fail("%w", err)
	}
	return values, stored, nil
}

// scaleOf returns the scale of each code of a shape, and the type of scales. Each dimension of the scales
// divides that of the codes, and those that are missing at the end are 1: [tokens][heads], one number.
func (o *storedOptions) scaleOf(files dumps, shape []int) (scale func(i int) float32, of ropecheck.ElementType, err error) {
	if o.scales == "" {
		return nil, 0, nil
	}
	scales, size := []float32{0}, []int(nil)
	switch one, err := strconv.ParseFloat(o.scales, 32); {
	case err == nil:
		scales[0] = float32(one)
	case errors.Is(err, strconv.ErrRange):
		return nil, 0, fmt.Errorf("--scales %s: out of the range of float32, want a finite number, at least 0", input.Name(o.scales))
	default:
		a, err := files.array(o.scales)
		if err != nil {
			return nil, 0, fmt.Errorf("--scales: %w", err)
		}
		if scales, err = a.Float32s(); err != nil {
			return nil, 0, fmt.Errorf("--scales %s: %w", input.Name(o.scales), err)
		}
		size, of = slices.Clone(a.Shape), elementType(a)
	}
	for i, s := range scales {
		if !(s >= 0 && s <= math.MaxFloat32) {
			return nil, 0, fmt.Errorf("--scales %s: scale %d is %v, want a finite number, at least 0", input.Name(o.scales), i, s)
		}
	}
	for len(size) > len(shape) && size[len(size)-1] == 1 {
		size = size[:len(size)-1]
	}
	for len(size) < len(shape) {
		size = append(size, 1)
	}
	fits := len(size) == len(shape)
	for d := range shape {
		fits = fits && shape[d]%size[d] == 0
	}
	if !fits {
		return nil, 0, fmt.Errorf("--scales %s: shape %v: want dimensions that divide the ones of the codes, %v", input.Name(o.scales), size, shape)
	}
	return func(i int) float32 {
		at, stride := 0, 1
		for d := len(shape) - 1; d >= 0; d-- {
			at += i % shape[d] * size[d] / shape[d] * stride
			i, stride = i/shape[d], stride*size[d]
		}
		return scales[at]
	}, of, nil
}

// untransformed are heads without the Hadamard transform that they went through before they were stored.
func untransformed(heads []float32, count, headDim, block int) ([]float32, error) {
	if block == 0 {
		return heads, nil
	}
	heads = slices.Clone(heads)
	err := posenc.Hadamard(posenc.HadamardOptions{HeadDim: headDim, Block: block}, len(heads)/(count*headDim), posenc.View[float32]{Data: heads, Heads: count})
	if err != nil {
		return nil, fmt.Errorf("--hadamard %d: want a power of two from 32 to 512 that divides the %d elements of a head", block, headDim)
	}
	return heads, nil
}

// noteHadamard says of keys that no rotation explains whether the transform that llama.cpp puts before its caches
// does.
func (c *comparison) noteHadamard(r *checkResult) {
	if c.stored == nil || c.stored.Hadamard != 0 || r.Report.Hypotheses[0].Explains {
		return
	}
	block := 512
	for r.Report.HeadDim%block != 0 {
		block /= 2
	}
	with := *c
	stored := *c.stored
	stored.Hadamard = block
	with.stored = &stored
	if other, err := with.as(r.Shape); err == nil && other.Report.Hypotheses[0].Explains {
		r.Notes = append(r.Notes, fmt.Sprintf("A Hadamard transform in blocks of %d, as llama.cpp has it before its caches, explains the data: --hadamard %[1]d takes it back.", block))
	}
}
