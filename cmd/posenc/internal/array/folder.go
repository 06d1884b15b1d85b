package array

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
)

// The files of a folder, beside NAME.txt for texts.
const (
	folderIndex = "index.txt"
	folderData  = "data.bin"
)

// folderVersion is that of the form of both.
const folderVersion = "posenc-vectors 1"

// writeFolder writes arrays as their bytes, little-endian, one behind the other, and an index of which
// a line has name, type, first byte, number of elements, and shape: what C reads by fscanf. Arrays
// with the same beginning have the same bytes of the file.
func writeFolder(folder string, f *File) error {
	type part struct {
		of    *Array
		kind  *kind
		data  []byte
		first int
	}
	var parts []*part
	for i := range f.Arrays {
		a := &f.Arrays[i]
		if strings.ContainsFunc(a.Name, func(r rune) bool { return r <= ' ' }) {
			return fmt.Errorf("%s: array %q: want a name without spaces", input.Name(folder), a.Name)
		}
		k, data, err := a.encode()
		if err != nil {
			return fmt.Errorf("%s: %w", input.Name(folder), err)
		}
		parts = append(parts, &part{of: a, kind: k, data: data})
	}
	var data []byte
	var placed []*part
	longest := slices.SortedStableFunc(slices.Values(parts), func(a, b *part) int { return cmp.Compare(len(b.data), len(a.data)) })
	for _, p := range longest {
		i := slices.IndexFunc(placed, func(other *part) bool { return bytes.HasPrefix(other.data, p.data) })
		if i >= 0 {
			p.first = placed[i].first
			continue
		}
		data = append(data, make([]byte, (8-len(data)%8)%8)...) // the largest elements have 8 bytes
		p.first = len(data)
		data, placed = append(data, p.data...), append(placed, p)
	}
	var index strings.Builder
	fmt.Fprintln(&index, folderVersion)
	for _, p := range parts {
		shape := strings.Trim(strings.ReplaceAll(fmt.Sprint(p.of.Shape), " ", ","), "[]")
		fmt.Fprintln(&index, p.of.Name, p.kind.name, p.first, len(p.data)/p.kind.size, shape)
	}
	files := map[string][]byte{folderIndex: []byte(index.String()), folderData: data}
	for name, text := range f.Texts {
		files[name+".txt"] = []byte(text)
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return input.Plain(folder, err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, files[name], 0o666); err != nil {
			return input.Plain(path, err)
		}
	}
	return nil
}
