// Package source reads the FILE arguments of commands: a config.json, a folder of a
// model that has one, or a GGUF file; or one of these files through a pipe.
package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

	// ModelErr says why the text model of a file with a Vision has no Model: it does not rotate.
	ModelErr error

	// VisionErr says why a tower that there is has no Vision: it does not rotate, or is not read.
	VisionErr error

	Others []Other // parts that are neither of both
}

// VisionUnread reports whether the file has a tower that posenc does not know.
func (s *Source) VisionUnread() bool {
	return s.VisionErr != nil && !errors.Is(s.VisionErr, modelconfig.ErrNotRotary)
}

// Other is a further part of a config.json, such as an encoder of audio.
type Other struct {
	Key string
	Err error // why it is not read alone; nil: it rotates
}

// UnknownType is the error of a config.json whose type is not known.
type UnknownType struct {
	Path   string
	Config []byte // what was read: a pipe cannot be read again
	err    error
}

func (e *UnknownType) Error() string { return input.Name(e.Path) + ": " + e.err.Error() }
func (e *UnknownType) Unwrap() error { return e.err }

// Format is the form of a file.
type Format string

const (
	HuggingFace Format = "config.json"
	GGUF        Format = "GGUF"
)

const (
	configName  = "config.json"
	mostOfJSON  = 4 << 20 // bytes that modelconfig reads
	mostOfOther = 4 << 10 // bytes by which modelconfig says what another file is
	mostOfPipe  = 1 << 28 // bytes of a GGUF file that are read from a pipe
)

// Load reads the file at path. Errors name the file, and where it is about one, the key.
func Load(path string) (*Source, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		folder := path
		path = filepath.Join(folder, configName)
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s: the folder has no %s", input.Name(folder), configName)
		}
	}
	f, err := input.Open(path, mostOfPipe)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(path, f, f.Size)
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
		return nil, input.Plain(path, err)
	}
}

func (s *Source) read(f io.ReaderAt, size int64) error {
	letters := make([]byte, len(gguf.Magic))
	n, err := f.ReadAt(letters, 0)
	if err != nil && err != io.EOF {
		return err
	}
	if letters = letters[:n]; string(letters) == gguf.Magic {
		s.Format = GGUF
		keys, tensors, err := gguf.Read(f, size)
		if err == nil {
			err = addParts(s.Path, keys["split.count"], tensors)
		}
		if err != nil {
			return err
		}
		s.VisionErr = projector(keys)
		s.Model, err = modelconfig.GGUF(keys, tensors)
		return err
	}
	s.Format = HuggingFace
	most := int64(mostOfJSON + 1)
	if !mayBeObject(letters) {
		most = mostOfOther
	}
	config, err := io.ReadAll(io.NewSectionReader(f, 0, most))
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
		f, err := input.Open(fmt.Sprintf("%s-%05d-of-%05d.gguf", begin, part, parts), mostOfPipe)
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

func addPart(f *input.File, tensors map[string][]float32) error {
	defer f.Close()
	more, err := gguf.Tensors(f, f.Size)
	maps.Copy(tensors, more)
	return err
}

// projector is the error of the tower that a GGUF file has beside its text model, nil where it has none.
func projector(keys map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if strings.HasPrefix(key, "clip.") || strings.Contains(key, ".vision.") {
			return fmt.Errorf("the file has a tower (key %q), which is not read from GGUF: give the model's config.json", key)
		}
	}
	return nil
}

// mayBeObject reports whether text begins as a JSON object does, or with a comment. Text that ends before it says
// so may be one.
func mayBeObject(text []byte) bool {
	trimmed := bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\uFEFF")), " \t\r\n")
	return len(trimmed) == 0 || strings.IndexByte("{/#", trimmed[0]) >= 0
}

// readConfig reads a config.json of a text model, of a vision tower, or of both. The error of a text model is that
// of the file, whether a tower is read or not.
func (s *Source) readConfig(config []byte) error {
	s.Model, s.ModelErr = modelconfig.HuggingFace(config)
	s.Vision, s.VisionErr = modelconfig.HuggingFaceVision(config)
	isAlone := errors.Is(s.ModelErr, modelconfig.ErrAbsent) // a tower without a text model
	switch {
	case isAlone && s.Vision == nil:
		return s.VisionErr
	case isAlone:
		s.ModelErr = nil
	case s.ModelErr != nil && (s.Vision == nil || !errors.Is(s.ModelErr, modelconfig.ErrNotRotary)):
		return s.ModelErr
	case s.Model != nil && s.Vision != nil && s.Model.Type() == s.Vision.Type():
		s.Model = nil // the configuration is that of the tower itself
	}
	if errors.Is(s.VisionErr, modelconfig.ErrAbsent) {
		s.VisionErr = nil
	}
	s.readOthers(config, "")
	return nil
}

// otherPart are the keys of parts that are neither the text model nor the tower.
var otherPart = regexp.MustCompile(`audio|speech|sound|talker|tts|2wav`)

// nonFinite are numbers that Python writes and JSON does not have.
var nonFinite = regexp.MustCompile(`(:\s*)(?:-?Infinity|NaN)\b`)

// readOthers asks of each further part of a config.json, or of a model within it, whether it rotates.
func (s *Source) readOthers(config []byte, within string) {
	var keys map[string]json.RawMessage
	if json.Unmarshal(nonFinite.ReplaceAll(config, []byte("${1}null")), &keys) != nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		var part struct {
			Type string `json:"model_type"`
		}
		switch isPart := otherPart.MatchString(key); {
		case keys[key][0] != '{' || json.Unmarshal(keys[key], &part) != nil:
		case !isPart && within == "":
			s.readOthers(keys[key], key+".")
		case isPart && (s.Model == nil || part.Type != s.Model.Type()):
			_, err := modelconfig.HuggingFace(keys[key])
			s.Others = append(s.Others, Other{within + key, err})
		}
	}
}
