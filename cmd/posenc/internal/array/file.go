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

// ReadFile reads a file of one of the three formats, which it tells by the first bytes.
// Arrays of safetensors are in the order of their names.
func ReadFile(path string) (*File, error) {
	f, err := input.Open(path, maxBytes+maxSafetensorsHeader)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	file, err := Read(f, f.Size)
	return file, input.Plain(path, err)
}

// Read reads a file of size bytes, or of input.Unknown. It takes memory for what the header says only as the
// file has it.
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

// readData reads n bytes, the rest of a file that has left more bytes, or an unknown number. It fails
// for more and for fewer; of names what the bytes are.
func readData(r io.Reader, n int, left int64, of string) ([]byte, error) {
	if left != input.Unknown && left != int64(n) {
		return nil, fmt.Errorf("%d bytes of data: want %d for %s", left, n, of)
	}
	first := n
	if left == input.Unknown {
		first = min(n, 1<<20)
	}
	data := make([]byte, 0, first)
	for len(data) < n {
		if len(data) == cap(data) {
			data = append(make([]byte, 0, min(n, 2*cap(data))), data...)
		}
		m, err := io.ReadFull(r, data[len(data):cap(data)])
		data = data[:len(data)+m]
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return nil, fmt.Errorf("%d bytes of data: want %d for %s", len(data), n, of)
		case err != nil:
			return nil, err
		}
	}
	switch m, err := io.ReadFull(r, make([]byte, 1)); {
	case m > 0:
		return nil, fmt.Errorf("more than %d bytes of data: want %[1]d for %s", n, of)
	case err != io.EOF:
		return nil, err
	}
	return data, nil
}

// encoders are by the ending of a file's name.
var encoders = map[string]func(*File) ([]byte, error){".npz": encodeNPZ, ".safetensors": encodeSafetensors}

// IsFolder reports whether WriteFile writes a folder to path. It fails for an ending that is not known.
func IsFolder(path string) (bool, error) {
	ending := strings.ToLower(filepath.Ext(path))
	if ending != "" && encoders[ending] == nil {
		return false, fmt.Errorf("%s: want a name that ends in .safetensors or .npz, or a folder, whose name has no ending",
			input.Name(path))
	}
	return ending == "", nil
}

// WriteFile writes npz or safetensors, by the ending of path, or a folder, where it has none. Equal
// files have equal bytes.
func WriteFile(path string, f *File) error {
	isFolder, err := IsFolder(path)
	if err != nil {
		return err
	}
	var names []string
	for _, a := range f.Arrays {
		if a.Name == "" || slices.Contains(names, a.Name) {
			return fmt.Errorf("%s: array %q: want a name that no other array has", input.Name(path), a.Name)
		}
		names = append(names, a.Name)
	}
	if isFolder {
		return writeFolder(path, f)
	}
	data, err := encoders[strings.ToLower(filepath.Ext(path))](f)
	if err != nil {
		return fmt.Errorf("%s: %w", input.Name(path), err)
	}
	return input.Plain(path, os.WriteFile(path, data, 0o666))
}
