package array

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/nlpodyssey/safetensors"
)

// maxSafetensorsHeader is that of ten thousand tensors. Parsed it takes some fifty times as
// much.
const maxSafetensorsHeader = 1 << 20

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
	data := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), data); err != nil {
		return nil, err
	}
	tensors, err := safetensors.Deserialize(data)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %.300s", err.Error()) // which may have the whole header
	}
	_, metadata, err := safetensors.ReadMetadata(data)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %.300s", err.Error()) // which may have the whole header
	}
	f := &File{Texts: metadata.Metadata()}
	for _, t := range tensors.Tensors() {
		a := Array{Name: t.Name, Type: t.TensorView.DType().String()}
		if err := checkDimensions(len(t.TensorView.Shape())); err != nil {
			return nil, fmt.Errorf("tensor %.100q: %w", t.Name, err)
		}
		for _, n := range t.TensorView.Shape() {
			if n > math.MaxInt {
				return nil, fmt.Errorf("tensor %q: shape %v", t.Name, t.TensorView.Shape())
			}
			a.Shape = append(a.Shape, int(n))
		}
		for _, k := range kinds {
			if k.safe != a.Type {
				continue
			}
			if err := a.set(k, t.TensorView.Data(), binary.LittleEndian); err != nil {
				return nil, fmt.Errorf("tensor %q: %w", t.Name, err)
			}
			break
		}
		f.Arrays = append(f.Arrays, a)
	}
	// The library leaves the order of empty tensors to chance.
	slices.SortFunc(f.Arrays, func(a, b Array) int { return strings.Compare(a.Name, b.Name) })
	return f, nil
}

// tensor is what the library writes.
type tensor struct {
	kind  safetensors.DType
	shape []uint64
	data  []byte
}

func (t tensor) DType() safetensors.DType { return t.kind }
func (t tensor) Shape() []uint64          { return t.shape }
func (t tensor) Data() []byte             { return t.data }
func (t tensor) DataLen() uint64          { return uint64(len(t.data)) }

func encodeSafetensors(f *File) ([]byte, error) {
	tensors := make(map[string]tensor)
	for i := range f.Arrays {
		a := &f.Arrays[i]
		k, data, err := a.encode()
		if err != nil {
			return nil, err
		}
		kind, err := safetensors.ParseDType(k.safe)
		if err != nil {
			return nil, err
		}
		shape := make([]uint64, len(a.Shape)) // nil would be written as null
		for d, n := range a.Shape {
			shape[d] = uint64(n)
		}
		tensors[a.Name] = tensor{kind, shape, data}
	}
	return safetensors.Serialize(tensors, f.Texts)
}
