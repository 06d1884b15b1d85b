package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
)

// tensors is a safetensors file in memory: the length of a header, the header in JSON, and
// the elements, little-endian and row by row.
type tensors struct {
	metadata map[string]string
	headers  map[string]tensorHeader
	data     []byte
}

type tensorHeader struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

func readTensors(file []byte) (*tensors, error) {
	if len(file) < 8 {
		return nil, fmt.Errorf("safetensors: %d bytes, want at least 8", len(file))
	}
	size := binary.LittleEndian.Uint64(file)
	if size > uint64(len(file)-8) {
		return nil, fmt.Errorf("safetensors: a header of %d bytes in a file of %d", size, len(file))
	}
	t := &tensors{headers: map[string]tensorHeader{}, data: file[8+size:]}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(file[8:8+size], &entries); err != nil {
		return nil, fmt.Errorf("safetensors: header: %w", err)
	}
	for name, entry := range entries {
		if name == "__metadata__" {
			if err := json.Unmarshal(entry, &t.metadata); err != nil {
				return nil, fmt.Errorf("safetensors: %s: %w", name, err)
			}
			continue
		}
		var h tensorHeader
		if err := json.Unmarshal(entry, &h); err != nil {
			return nil, fmt.Errorf("safetensors: %s: %w", name, err)
		}
		if h.Offsets[0] < 0 || h.Offsets[1] < h.Offsets[0] || h.Offsets[1] > len(t.data) {
			return nil, fmt.Errorf("safetensors: %s: offsets %v in %d bytes of data", name, h.Offsets, len(t.data))
		}
		t.headers[name] = h
	}
	return t, nil
}

// tensor returns the elements of a tensor of 32 bits, float32 ("F32") or int32 ("I32"). Its
// shape has to be as given; -1 stands for any number.
func tensor[T float32 | int32](t *tensors, dtype, name string, shape ...int) ([]T, error) {
	h, ok := t.headers[name]
	if !ok {
		return nil, fmt.Errorf("safetensors: there is no tensor %s", name)
	}
	same := func(got, want int) int { return max(0, want) * (got - want) }
	if h.DType != dtype || slices.CompareFunc(h.Shape, shape, same) != 0 {
		return nil, fmt.Errorf("safetensors: %s is %s %v, want %s %v", name, h.DType, h.Shape, dtype, shape)
	}
	elements := 1
	for _, n := range h.Shape {
		if n < 0 {
			return nil, fmt.Errorf("safetensors: %s has shape %v", name, h.Shape)
		}
		elements *= n
	}
	data := t.data[h.Offsets[0]:h.Offsets[1]]
	if 4*elements != len(data) {
		return nil, fmt.Errorf("safetensors: %s of shape %v has %d bytes", name, h.Shape, len(data))
	}
	x := make([]T, elements)
	_, err := binary.Decode(data, binary.LittleEndian, x)
	return x, err
}
