package array

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// The format: https://huggingface.co/docs/safetensors. github.com/nlpodyssey/safetensors refuses a
// file for one type that it does not know, such as F8_E4M3.

// maxSafetensorsHeader is that of ten thousand tensors. Parsed it takes some fifty times as
// much.
const maxSafetensorsHeader = 1 << 20

// safetensorsMetadata is the name in a header that is no tensor.
const safetensorsMetadata = "__metadata__"

// safetensor is what a header says of a tensor.
type safetensor struct {
	Type    string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets []int  `json:"data_offsets"` // first byte and the one after the last, from the end of the header
}

func readSafetensors(r io.ReaderAt, size int64) (*File, error) {
	var start [8]byte
	if _, err := r.ReadAt(start[:], 0); err != nil {
		return nil, err
	}
	header := binary.LittleEndian.Uint64(start[:])
	switch {
	case header > uint64(size-8):
		return nil, fmt.Errorf("a safetensors header of %d bytes in a file of %d", header, size)
	case header > maxSafetensorsHeader:
		return nil, fmt.Errorf("a safetensors header of %d bytes: want at most %d", header, maxSafetensorsHeader)
	case size > maxBytes:
		return nil, fmt.Errorf("%d bytes: want at most %d", size, maxBytes)
	}
	data := make([]byte, size-8)
	if _, err := io.ReadFull(io.NewSectionReader(r, 8, size-8), data); err != nil {
		return nil, err
	}
	f, err := decodeSafetensors(data[:header], data[header:])
	if err != nil {
		return nil, fmt.Errorf("safetensors: %.300s", err.Error()) // which may have the whole header
	}
	return f, nil
}

// decodeSafetensors reads the tensors of a header, by their names. They fill data without gaps.
// Those of types that no kind has are left unread.
func decodeSafetensors(header, data []byte) (*File, error) {
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(header, &entries); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	f := &File{}
	if texts, ok := entries[safetensorsMetadata]; ok {
		if err := json.Unmarshal(texts, &f.Texts); err != nil {
			return nil, fmt.Errorf("%s: %w", safetensorsMetadata, err)
		}
		delete(entries, safetensorsMetadata)
	}
	var ranges [][]int
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		var t safetensor
		if err := json.Unmarshal(entries[name], &t); err != nil {
			return nil, fmt.Errorf("tensor %.100q: %w", name, err)
		}
		a := Array{Name: name, Type: t.Type, Shape: t.Shape}
		if err := checkDimensions(len(t.Shape)); err != nil {
			return nil, fmt.Errorf("tensor %.100q: %w", name, err)
		}
		n, ok := count(t.Shape)
		switch {
		case len(t.Offsets) != 2 || t.Offsets[0] < 0 || t.Offsets[1] < t.Offsets[0] || t.Offsets[1] > len(data):
			return nil, fmt.Errorf("tensor %.100q: data_offsets %.100v: want two that rise, up to %d", name, fmt.Sprint(t.Offsets), len(data))
		case t.Type == "" || !ok:
			return nil, fmt.Errorf("tensor %.100q: dtype %.100q, shape %v: want a type and fewer elements, none negative", name, t.Type, t.Shape)
		}
		ranges = append(ranges, t.Offsets)
		values := data[t.Offsets[0]:t.Offsets[1]]
		if i := slices.IndexFunc(kinds, func(k *kind) bool { return k.safe == t.Type }); i >= 0 {
			if size := kinds[i].size; n != len(values)/size || len(values)%size != 0 {
				return nil, fmt.Errorf("tensor %.100q: %d bytes of data: want those of shape %v of %s", name, len(values), t.Shape, t.Type)
			}
			if err := a.set(kinds[i], values, binary.LittleEndian); err != nil {
				return nil, fmt.Errorf("tensor %.100q: %w", name, err)
			}
		}
		f.Arrays = append(f.Arrays, a)
	}
	slices.SortFunc(ranges, slices.Compare)
	end := 0
	for _, r := range ranges {
		if r[0] != end {
			return nil, fmt.Errorf("data_offsets %v: want the first to be %d, as tensors follow one another", r, end)
		}
		end = r[1]
	}
	if end != len(data) {
		return nil, fmt.Errorf("%d bytes of data: want %d, those of the tensors", len(data), end)
	}
	return f, nil
}

// encodeSafetensors writes tensors as the library of Python does: of large types first, by their
// names.
func encodeSafetensors(f *File) ([]byte, error) {
	type tensor struct {
		name string
		kind int // in kinds
		safetensor
		data []byte
	}
	var tensors []tensor
	entries := map[string]any{}
	if f.Texts != nil {
		entries[safetensorsMetadata] = f.Texts
	}
	for i := range f.Arrays {
		a := &f.Arrays[i]
		k, data, err := a.encode()
		if err != nil {
			return nil, err
		}
		if a.Name == safetensorsMetadata {
			return nil, errors.New("array " + safetensorsMetadata + ": want another name")
		}
		shape := append([]int{}, a.Shape...) // nil would be written as null
		tensors = append(tensors, tensor{a.Name, slices.Index(kinds, k), safetensor{Type: k.safe, Shape: shape}, data})
	}
	slices.SortFunc(tensors, func(a, b tensor) int {
		return cmp.Or(cmp.Compare(b.kind, a.kind), strings.Compare(a.name, b.name))
	})
	var data []byte
	for _, t := range tensors {
		t.Offsets = []int{len(data), len(data) + len(t.data)}
		data = append(data, t.data...)
		entries[t.name] = t.safetensor
	}
	var header bytes.Buffer
	e := json.NewEncoder(&header)
	e.SetEscapeHTML(false)
	if err := e.Encode(entries); err != nil {
		return nil, err
	}
	text := strings.TrimSuffix(header.String(), "\n")
	text += strings.Repeat(" ", (8-len(text)%8)%8) // the data start at a multiple of 8 bytes
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	return append(append(file, text...), data...), nil
}
