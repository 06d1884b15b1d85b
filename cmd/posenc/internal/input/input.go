// Package input opens the files that a command names: standard input and pipes too.
package input

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"syscall"
	"time"
)

// Stdin is the path that means standard input.
const Stdin = "-"

// Unknown is the size of what comes through a pipe.
const Unknown = math.MaxInt64

// File is a file, or what comes through a pipe: that is read as it is asked for, forwards, and ReadAt goes back
// by keptOfPipe bytes at most.
type File struct {
	io.ReaderAt
	Size int64

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

// lfsPointer is the beginning of the text that Git has in place of a file of Git LFS.
const lfsPointer = "version https://git-lfs"

// Open opens the file at path. Of a pipe, and of what else is no regular file, ReadAt fails beyond most bytes.
// Errors name the path.
func Open(path string, most int64) (*File, error) {
	if path == Stdin {
		f, err := open(os.Stdin, most)
		return f, Plain("standard input", err)
	}
	flag := os.O_RDONLY
	if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		flag |= syscall.O_NONBLOCK // or opening waits for a writer without a bound
	}
	file, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return nil, Plain(path, err)
	}
	f, err := open(file, most)
	if err != nil {
		file.Close()
		return nil, Plain(path, err)
	}
	f.file = file
	return f, nil
}

func open(file *os.File, most int64) (*File, error) {
	f, err := start(file, most)
	if err != nil {
		return nil, err
	}
	letters := make([]byte, len(lfsPointer))
	if n, _ := f.ReadAt(letters[:1], 0); n == 1 && letters[0] == lfsPointer[0] {
		_, _ = f.ReadAt(letters, 0)
	}
	if string(letters) == lfsPointer {
		return nil, errors.New("a Git LFS pointer in place of the file: git lfs pull fetches the file")
	}
	return f, nil
}

// start reads the first bytes of a pipe.
func start(file *os.File, most int64) (*File, error) {
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("a folder: want a file")
	case info.Mode().IsRegular() && info.Size() > 0: // those of /proc have no size
		return &File{ReaderAt: file, Size: info.Size()}, nil
	case file == os.Stdin && stdinDone:
		return nil, errors.New("named twice, and a pipe is read once")
	}
	stdinDone = stdinDone || file == os.Stdin
	p := &pipe{from: file, most: most}
	isPipe := info.Mode()&os.ModeNamedPipe != 0
	_, err = p.ReadAt(make([]byte, 1), 0)
	if file != os.Stdin { // a pipe without a writer ends at once
		for end := time.Now().Add(patience); err == io.EOF && isPipe && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
			p.err = nil
			_, err = p.ReadAt(make([]byte, 1), 0)
		}
	}
	switch {
	case err == io.EOF && isPipe:
		return nil, errors.New("a pipe that nothing was written to")
	case err == io.EOF:
		return &File{ReaderAt: bytes.NewReader(nil)}, nil
	case err != nil:
		return nil, err
	}
	return &File{ReaderAt: p, Size: Unknown}, nil
}
