package array

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
)

// Raw is what a file holds that has numbers and no header.
type Raw struct {
	kind  *kind
	shape []int
	count int
	order binary.ByteOrder
}

// ParseRaw reads TYPE:SHAPE, of little-endian numbers, or TYPE:SHAPE:big: "float32:12,4,64".
func ParseRaw(text string) (*Raw, error) {
	parts := strings.Split(text, ":")
	orders := map[string]binary.ByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian}
	if len(parts) == 2 {
		parts = append(parts, "little")
	}
	if len(parts) != 3 || orders[parts[2]] == nil {
		return nil, fmt.Errorf("%q: want TYPE:SHAPE, or TYPE:SHAPE:big of the other byte order, such as float32:12,4,64", text)
	}
	i := slices.IndexFunc(kinds, func(k *kind) bool { return k.name == parts[0] })
	if i < 0 {
		var names []string
		for _, k := range kinds {
			names = append(names, k.name)
		}
		return nil, fmt.Errorf("%q: type %q: want %s", text, parts[0], strings.Join(names, ", "))
	}
	r := &Raw{kind: kinds[i], order: orders[parts[2]]}
	for part := range strings.SplitSeq(parts[1], ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q: dimension %q: want a number of elements, 1 or more", text, part)
		}
		r.shape = append(r.shape, n)
	}
	var ok bool
	if r.count, ok = count(r.shape); !ok || r.count > maxBytes/r.kind.size {
		return nil, fmt.Errorf("%q: want at most %d bytes", text, maxBytes)
	}
	return r, checkDimensions(len(r.shape))
}

// ReadBytes reads a file without a header as bytes, size of them; of names what they are.
func ReadBytes(path string, size int, of string) (*Array, error) {
	f, err := input.Open(path, maxBytes)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := readData(io.NewSectionReader(f, 0, f.Size), size, f.Size, of)
	if err != nil {
		return nil, input.Plain(path, err)
	}
	return &Array{Shape: []int{len(data)}, Type: "uint8", Values: data}, nil
}

// ReadFile reads a file that has the numbers and nothing else.
func (r *Raw) ReadFile(path string) (*Array, error) {
	bytes, err := ReadBytes(path, r.count*r.kind.size, fmt.Sprintf("shape %v of %s", r.shape, r.kind.name))
	if err != nil {
		return nil, err
	}
	a := &Array{Shape: r.shape}
	if err := a.set(r.kind, bytes.Values.([]byte), r.order); err != nil {
		return nil, fmt.Errorf("%s: %w", input.Name(path), err)
	}
	return a, nil
}
