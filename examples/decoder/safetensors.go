package main

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/nlpodyssey/safetensors"
)

// tensor returns the elements of a tensor of 32 bits, float32 (safetensors.F32) or int32
// (safetensors.I32). Its shape has to be as given; -1 stands for any number.
func tensor[T float32 | int32](file safetensors.SafeTensors, kind safetensors.DType, name string, shape ...int) ([]T, error) {
	t, ok := file.Tensor(name)
	if !ok {
		return nil, fmt.Errorf("safetensors: there is no tensor %s", name)
	}
	same := func(got uint64, want int) bool { return want < 0 || got == uint64(want) }
	if t.DType() != kind || !slices.EqualFunc(t.Shape(), shape, same) {
		return nil, fmt.Errorf("safetensors: %s is %s %v, want %s %v", name, t.DType(), t.Shape(), kind, shape)
	}
	x := make([]T, t.DataLen()/4)
	_, err := binary.Decode(t.Data(), binary.LittleEndian, x)
	return x, err
}
