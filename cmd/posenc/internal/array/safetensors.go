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

	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
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

	kind *kind // nil: no kind has the type
}

func readSafetensors(r io.ReaderAt, size int64) (*File, error) {
	var start [8]byte
	if _, err := r.ReadAt(start[:], 0); err != nil {
		return nil, err
	}
	length := binary.LittleEndian.Uint64(start[:])
	switch {
	case length > uint64(size-8):
		return nil, fmt.Errorf("a safetensors header of %d bytes in a file of %d", length, size)
	case length > maxSafetensorsHeader:
		return nil, fmt.Errorf("a safetensors header of %d bytes: want at most %d", length, maxSafetensorsHeader)
	case size != input.Unknown && size > maxBytes:
		return nil, fmt.Errorf("%d bytes: want at most %d", size, maxBytes)
	}
	header := make([]byte, length)
	if _, err := io.ReadFull(io.NewSectionReader(r, 8, int64(length)), header); err != nil {
		return nil, endsEarly(err, "a safetensors header")
	}
	left := size
	if size != input.Unknown {
		left -= 8 + int64(length)
	}
	f, err := decodeSafetensors(header, io.NewSectionReader(r, 8+int64(length), maxBytes), left)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %.300s", err.Error()) // which may have the whole header
	}
	return f, nil
}

// decodeSafetensors reads the tensors of a header, by their names. They fill the data, the bytes that are left,
// without gaps. Those of types that no kind has are left unread.
func decodeSafetensors(header []byte, r io.Reader, left int64) (*File, error) {
	entries, err := objectOf(header)
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	f := &File{}
	if texts, ok := entries[safetensorsMetadata]; ok {
		if f.Texts, err = textsOf(texts); err != nil {
			return nil, fmt.Errorf("%s: %w", safetensorsMetadata, err)
		}
		delete(entries, safetensorsMetadata)
	}
	var tensors []*safetensor
	most := min(left, maxBytes)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		t, err := safetensorOf(entries[name], most)
		if err != nil {
			return nil, fmt.Errorf("tensor %.100q: %w", name, err)
		}
		tensors = append(tensors, t)
		f.Arrays = append(f.Arrays, Array{Name: name, Type: t.Type, Shape: t.Shape})
	}
	end := 0
	byPlace := func(a, b *safetensor) int { return slices.Compare(a.Offsets, b.Offsets) }
	for _, t := range slices.SortedFunc(slices.Values(tensors), byPlace) {
		if t.Offsets[0] != end {
			return nil, fmt.Errorf("data_offsets %v: want the first to be %d, as tensors follow one another", t.Offsets, end)
		}
		end = t.Offsets[1]
	}
	data, err := readData(r, end, left, "the tensors")
	if err != nil {
		return nil, err
	}
	for i, t := range tensors {
		if t.kind == nil {
			continue
		}
		if err := f.Arrays[i].set(t.kind, data[t.Offsets[0]:t.Offsets[1]], binary.LittleEndian); err != nil {
			return nil, fmt.Errorf("tensor %.100q: %w", f.Arrays[i].Name, err)
		}
	}
	return f, nil
}

// safetensorOf reads the entry of a tensor, whose data end within most bytes.
func safetensorOf(entry json.RawMessage, most int64) (*safetensor, error) {
	values, err := objectOf(entry)
	if err != nil {
		return nil, err
	}
	t := &safetensor{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		value := values[key]
		switch key {
		case "dtype":
			if json.Unmarshal(value, &t.Type) != nil {
				return nil, fmt.Errorf("dtype %.100s: want the name of a type", value)
			}
		case "shape":
			if json.Unmarshal(value, &t.Shape) != nil {
				return nil, fmt.Errorf("shape %.100s: want a list of whole numbers", value)
			}
		case "data_offsets":
			if json.Unmarshal(value, &t.Offsets) != nil {
				return nil, fmt.Errorf("data_offsets %.100s: want a list of whole numbers", value)
			}
		}
	}
	if err := checkDimensions(len(t.Shape)); err != nil {
		return nil, err
	}
	n, ok := count(t.Shape)
	switch {
	case len(t.Offsets) != 2 || t.Offsets[0] < 0 || t.Offsets[1] < t.Offsets[0] || int64(t.Offsets[1]) > most:
		return nil, fmt.Errorf("data_offsets %.100v: want two that rise, up to %d", fmt.Sprint(t.Offsets), most)
	case t.Type == "" || !ok:
		return nil, fmt.Errorf("dtype %.100q, shape %v: want a type and fewer elements, none negative", t.Type, t.Shape)
	}
	if i := slices.IndexFunc(kinds, func(k *kind) bool { return k.safe == t.Type }); i >= 0 {
		t.kind = kinds[i]
		if size, length := t.kind.size, t.Offsets[1]-t.Offsets[0]; n != length/size || length%size != 0 {
			return nil, fmt.Errorf("%d bytes of data: want those of shape %v of %s", length, t.Shape, t.Type)
		}
	}
	return t, nil
}

// objectOf reads an object of JSON, whose keys are exact and appear once: encoding/json takes the last, and small
// letters for large ones.
func objectOf(text []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	noJSON := func() error { return fmt.Errorf("no JSON object from byte %d on", d.InputOffset()) }
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return nil, noJSON()
	}
	values := map[string]json.RawMessage{}
	for d.More() {
		token, err := d.Token()
		key, isText := token.(string)
		if err != nil || !isText {
			return nil, noJSON()
		}
		if _, twice := values[key]; twice {
			return nil, fmt.Errorf("the key %.100q appears twice", key)
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil, noJSON()
		}
		values[key] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, noJSON()
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more text after the object, from byte %d on", d.InputOffset())
	}
	return values, nil
}

// textsOf reads an object of texts.
func textsOf(object []byte) (map[string]string, error) {
	values, err := objectOf(object)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		var text *string
		if json.Unmarshal(values[key], &text) != nil || text == nil {
			return nil, fmt.Errorf("%.100q is %.100s: want a text", key, values[key])
		}
		texts[key] = *text
	}
	return texts, nil
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
