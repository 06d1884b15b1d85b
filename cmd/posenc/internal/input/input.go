// Package input opens the files that a command names: standard input and pipes too.
package input

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// Stdin is the path that means standard input.
const Stdin = "-"

// File is a file, or what came through a pipe.
type File struct {
	io.ReaderAt
	Size int64
	Cut  bool // a pipe goes on after these bytes

	file *os.File // to close; nil where nothing is
}

// Close closes the file.
func (f *File) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// patience is how long a named pipe may have no writer: that of an engine which loads a model first. A pipe
// that nobody means to write to, the config.json of a folder for example, must not wait for ever.
var patience = 5 * time.Minute

// stdinDone says that standard input, a pipe, was read: it has nothing for a second reader.
var stdinDone bool

// Open opens the file at path. A pipe has no places to go back to: of it and of what else is no
// regular file, all is read into memory, up to most bytes. More of them are an error.
func Open(path string, most int64) (*File, error) {
	f, err := OpenStart(path, most)
	if err == nil && f.Cut {
		f.Close()
		return nil, fmt.Errorf("%s: a pipe of more than %d bytes: want at most these", nameOf(path), most)
	}
	return f, err
}

// OpenStart is Open that reads the first most bytes of a longer pipe.
func OpenStart(path string, most int64) (*File, error) {
	if path == Stdin {
		f, err := read(os.Stdin, most)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", nameOf(path), err)
		}
		return f, nil
	}
	flag := os.O_RDONLY
	if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		flag |= syscall.O_NONBLOCK // or opening waits for a writer without a bound
	}
	file, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return nil, err
	}
	f, err := read(file, most)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.file = file
	return f, nil
}

func nameOf(path string) string {
	if path == Stdin {
		return "standard input"
	}
	return path
}

func read(f *os.File, most int64) (*File, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("a folder: want a file")
	case info.Mode().IsRegular():
		return &File{ReaderAt: f, Size: info.Size()}, nil
	case f == os.Stdin && stdinDone:
		return nil, errors.New("named twice, and a pipe is read once")
	}
	stdinDone = stdinDone || f == os.Stdin
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	isPipe := info.Mode()&os.ModeNamedPipe != 0
	if f != os.Stdin { // a pipe without a writer ends at once
		for end := time.Now().Add(patience); err == nil && len(data) == 0 && isPipe && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
			data, err = io.ReadAll(io.LimitReader(f, most+1))
		}
	}
	switch {
	case err != nil:
		return nil, err
	case len(data) == 0 && isPipe:
		return nil, errors.New("a pipe that nothing was written to")
	}
	size := min(int64(len(data)), most)
	return &File{ReaderAt: bytes.NewReader(data[:size]), Size: size, Cut: int64(len(data)) > most}, nil
}
