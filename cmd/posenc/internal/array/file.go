package array

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
)

// maxBytes is the size of the arrays of a file.
const maxBytes = 1 << 30

// ReadFile reads a file of one of the three formats, which it tells by the content.
// Arrays of safetensors are in the order of their names.
func ReadFile(path string) (*File, error) {
	f, err := input.Open(path, maxBytes)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	file, err := Read(f, f.Size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// Read reads a file of size bytes.
func Read(r io.ReaderAt, size int64) (*File, error) {
	var start [9]byte
	n, err := r.ReadAt(start[:], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch head := start[:n]; {
	case bytes.HasPrefix(head, []byte(npyMagic)):
		return readNPY(r, size)
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")): // the second is an empty archive
		return readNPZ(r, size)
	case n == len(start) && start[8] == '{':
		return readSafetensors(r, size)
	case n == 0:
		return nil, errors.New("an empty file")
	case bytes.HasPrefix(head, []byte("GGUF")):
		return nil, errors.New("a GGUF file: want arrays as npy, npz or safetensors")
	}
	return nil, errors.New("not a npy, npz or safetensors file")
}

// WriteFile writes npz or safetensors, by the ending of path, or a folder, where it has none. Equal
// files have equal bytes.
func WriteFile(path string, f *File) error {
	encode := map[string]func(*File) ([]byte, error){".npz": encodeNPZ, ".safetensors": encodeSafetensors}[strings.ToLower(filepath.Ext(path))]
	isFolder := filepath.Ext(path) == ""
	if encode == nil && !isFolder {
		return fmt.Errorf("%s: want a name that ends in .safetensors or .npz, or a folder, whose name has no ending", path)
	}
	var names []string
	for _, a := range f.Arrays {
		if a.Name == "" || slices.Contains(names, a.Name) {
			return fmt.Errorf("%s: array %q: want a name that no other array has", path, a.Name)
		}
		names = append(names, a.Name)
	}
	if isFolder {
		return writeFolder(path, f)
	}
	data, err := encode(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, data, 0o666)
}
