package array

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
)

// What the members of an archive may have in all: as much as a small file, or the file a few
// times. Numbers that an engine computed hardly shrink at all.
const (
	maxSmall     = 16 << 20
	maxExpansion = 16
)

// readNPZ reads an archive whose members are NAME.npy, and NAME.txt for texts.
func readNPZ(r io.ReaderAt, size int64) (*File, error) {
	if size == input.Unknown {
		data, err := zipOfPipe(io.NewSectionReader(r, 0, size))
		if err != nil {
			return nil, fmt.Errorf("npz: %w", err)
		}
		r, size = bytes.NewReader(data), int64(len(data))
	}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, errors.New("npz: not a zip archive, or one that is cut off")
	}
	f := &File{Texts: make(map[string]string)}
	seen := make(map[string]bool)
	total := uint64(0)
	for _, member := range archive.File {
		ext := path.Ext(member.Name)
		name := strings.TrimSuffix(member.Name, ext)
		switch {
		case path.Base(member.Name) == "data.pkl":
			return nil, errors.New("a file of torch.save: want a file of safetensors.torch.save_file or numpy.save")
		case ext != ".npy" && ext != ".txt":
			continue
		case seen[member.Name]:
			return nil, fmt.Errorf("two members %q", member.Name)
		}
		seen[member.Name] = true
		if packed := member.CompressedSize64; packed > uint64(size) {
			return nil, fmt.Errorf("member %q: %d bytes in a file of %d", member.Name, packed, size)
		}
		if most := min(maxBytes, max(maxSmall, maxExpansion*uint64(size))); member.UncompressedSize64 > most-total {
			return nil, fmt.Errorf("member %q: %d bytes: want at most %d in all members of a file of %d", member.Name, member.UncompressedSize64, most, size)
		}
		total += member.UncompressedSize64
		if err := f.readMember(member, name, ext); err != nil {
			return nil, fmt.Errorf("member %q: %w", member.Name, unpacked(err))
		}
	}
	if len(f.Arrays) == 0 {
		return nil, errors.New("an archive without members *.npy")
	}
	return f, nil
}

// unpacked says in plain words what is wrong with a member.
func unpacked(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, zip.ErrChecksum), errors.Is(err, zip.ErrFormat), errors.Is(err, io.ErrUnexpectedEOF),
		errors.As(err, &corrupt):
		return errors.New("the data are damaged")
	case errors.Is(err, zip.ErrAlgorithm):
		return errors.New("packed in another way than by deflate")
	}
	return err
}

func (f *File) readMember(member *zip.File, name, ext string) error {
	r, err := member.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	if ext == ".txt" {
		text, err := io.ReadAll(io.LimitReader(r, int64(member.UncompressedSize64)+1))
		f.Texts[name] = string(text)
		return err
	}
	a, err := decodeNPY(r, int64(member.UncompressedSize64))
	if err != nil {
		return err
	}
	// What is beyond the data tells whether the checksum is right.
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	a.Name = name
	f.Arrays = append(f.Arrays, *a)
	return nil
}

// encodeNPZ writes members that are not compressed, as numpy.savez does, with their sizes
// before them: small readers need both.
func encodeNPZ(f *File) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	add := func(name string, data []byte) error {
		member, err := w.CreateRaw(&zip.FileHeader{
			Name: name, Method: zip.Store,
			CRC32: crc32.ChecksumIEEE(data), CompressedSize64: uint64(len(data)), UncompressedSize64: uint64(len(data)),
		})
		if err != nil {
			return err
		}
		_, err = member.Write(data)
		return err
	}
	for i := range f.Arrays {
		data, err := encodeNPY(&f.Arrays[i])
		if err != nil {
			return nil, err
		}
		if err := add(f.Arrays[i].Name+".npy", data); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Texts)) {
		if err := add(name+".txt", []byte(f.Texts[name])); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
