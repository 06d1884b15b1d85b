package input

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// Name is a path as text shows it: in quotes where it has characters that do not print, which a terminal may take
// for commands, and where it is empty.
func Name(path string) string {
	noPrint := func(r rune) bool { return !unicode.IsPrint(r) }
	if path == "" || !utf8.ValidString(path) || strings.ContainsFunc(path, noPrint) {
		return strconv.Quote(path)
	}
	return path
}

// Printable is text whose characters that do not print are written as Go does: \x1b.
func Printable(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if unicode.IsPrint(r) && (r != utf8.RuneError || n > 1) {
			b.WriteString(text[:n])
		} else {
			b.WriteString(strings.Trim(strconv.Quote(text[:n]), `"`))
		}
		text = text[n:]
	}
	return b.String()
}

// words are what errors of files mean.
var words = []struct {
	err  error
	says string
}{
	{fs.ErrNotExist, "no such file"},
	{fs.ErrPermission, "no permission"},
	{syscall.ENOTDIR, "no such file: a part of its path is no folder"},
	{syscall.EISDIR, "a folder: want a file"},
	{syscall.ENAMETOOLONG, "the name is too long"},
	{syscall.ELOOP, "symbolic links that lead in a circle"},
	{syscall.EROFS, "the file system is read-only"},
	{syscall.ENOSPC, "no space is left"},
}

// fileError is an error about a file in plain words.
type fileError struct {
	text string
	err  error
}

func (e *fileError) Error() string { return e.text }
func (e *fileError) Unwrap() error { return e.err }

// Plain says of an error about the file at path which file it is, and in plain words what is wrong. nil is nil.
func Plain(path string, err error) error {
	if err == nil {
		return nil
	}
	if errors.As(err, new(*fileError)) {
		return &fileError{Name(path) + ": " + err.Error(), err}
	}
	for _, w := range words {
		if errors.Is(err, w.err) {
			return &fileError{Name(path) + ": " + w.says, err}
		}
	}
	var at *fs.PathError
	var call *os.SyscallError
	inner := err
	switch {
	case errors.As(err, &at):
		inner = at.Err
	case errors.As(err, &call):
		inner = call.Err
	}
	return &fileError{fmt.Sprintf("%s: %v", Name(path), inner), err}
}
