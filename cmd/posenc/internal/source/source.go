// Package source reads the FILE arguments of commands: a config.json, a folder of a
// model that has one, or a GGUF file; or one of these files through a pipe.
package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-posenc/posenc/cmd/posenc/internal/gguf"
	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
	"github.com/go-posenc/posenc/modelconfig"
)

// Source is what a file says of a model.
type Source struct {
	Path   string // of the file: in a folder, that of its config.json
	Format Format

	Model  *modelconfig.Model // nil where the file has a vision tower only
	Vision *modelconfig.Model // of a config.json; nil where it has no tower that rotates

	// VisionErr says why a tower that there is has no Vision: it does not rotate, or is not read.
	VisionErr error
}

// UnknownType is the error of a config.json whose type is not known.
type UnknownType struct {
	Path   string
	Config []byte // what was read: a pipe cannot be read again
	err    error
}

func (e *UnknownType) Error() string { return e.Path + ": " + e.err.Error() }
func (e *UnknownType) Unwrap() error { return e.err }

// Format is the form of a file.
type Format string

const (
	HuggingFace Format = "config.json"
	GGUF        Format = "GGUF"
)

const (
	configName = "config.json"
	mostOfJSON = 4 << 20 // bytes that modelconfig reads
	mostOfPipe = 1 << 28 // bytes that are read: of a longer pipe, a GGUF file, the first ones
)

// Load reads the file at path. Errors name the file, and where it is about one, the key.
func Load(path string) (*Source, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		folder := path
		path = filepath.Join(folder, configName)
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s: the folder has no %s", folder, configName)
		}
	}
	f, err := input.OpenStart(path, mostOfPipe)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := Read(path, f, f.Size)
	if err != nil && f.Cut {
		return nil, fmt.Errorf("%w (of the pipe the first %d bytes were read: name the file itself)", err, f.Size)
	}
	return s, err
}

// Read reads a file of size bytes; path names it.
func Read(path string, f io.ReaderAt, size int64) (*Source, error) {
	s := &Source{Path: path}
	switch err := s.read(f, size); {
	case err == nil:
		return s, nil
	case errors.As(err, new(*UnknownType)):
		return nil, err
	default:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
}

func (s *Source) read(f io.ReaderAt, size int64) error {
	letters := make([]byte, len(gguf.Magic))
	if n, _ := f.ReadAt(letters, 0); string(letters[:n]) == gguf.Magic {
		s.Format = GGUF
		keys, tensors, err := gguf.Read(f, size)
		if err == nil {
			err = addParts(s.Path, keys["split.count"], tensors)
		}
		if err != nil {
			return err
		}
		s.Model, err = modelconfig.GGUF(keys, tensors)
		return err
	}
	s.Format = HuggingFace
	config, err := io.ReadAll(io.NewSectionReader(f, 0, mostOfJSON+1))
	if err != nil {
		return err
	}
	if err = s.readConfig(config); errors.Is(err, modelconfig.ErrUnknown) {
		return &UnknownType{s.Path, config, err}
	}
	return err
}

// addParts adds the tensors of the further parts of a GGUF file, where they lie beside the first under the names
// that llama.cpp gives to all: X-00001-of-00003.gguf.
func addParts(path string, count any, tensors map[string][]float32) error {
	parts, _ := count.(uint16)
	begin, named := strings.CutSuffix(path, fmt.Sprintf("-00001-of-%05d.gguf", parts))
	for part := 2; named && part <= int(parts); part++ {
		f, err := os.Open(fmt.Sprintf("%s-%05d-of-%05d.gguf", begin, part, parts))
		if errors.Is(err, os.ErrNotExist) {
			return nil // modelconfig.GGUF says where it needs them
		}
		if err == nil {
			err = addPart(f, tensors)
		}
		if err != nil {
			return fmt.Errorf("part %d of %d: %w", part, parts, err)
		}
	}
	return nil
}

func addPart(f *os.File, tensors map[string][]float32) error {
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	more, err := gguf.Tensors(f, info.Size())
	maps.Copy(tensors, more)
	return err
}

// readConfig reads a config.json of a text model, of a vision tower, or of both.
func (s *Source) readConfig(config []byte) error {
	var err error
	s.Model, err = modelconfig.HuggingFace(config)
	s.Vision, s.VisionErr = modelconfig.HuggingFaceVision(config)
	switch {
	case s.Vision == nil:
		if !bytes.Contains(config, []byte(`"vision_config"`)) {
			s.VisionErr = nil // that there is no tower
		}
		return err
	case s.Model.Type() == s.Vision.Type():
		s.Model = nil // the configuration is that of the tower itself
	}
	return nil
}
