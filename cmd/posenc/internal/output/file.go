package output

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
)

// CheckOut fails where the file, or the folder, of a flag --out cannot be written: a command calls it before it
// computes what to write. It leaves nothing behind.
func CheckOut(path string, isFolder bool) error {
	if err := checkOut(path, isFolder); err != nil {
		return fmt.Errorf("--out %w", err)
	}
	return nil
}

func checkOut(path string, isFolder bool) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && isFolder && !info.IsDir():
		return fmt.Errorf("%s: a file: want a folder, which a name without an ending is", input.Name(path))
	case err == nil && isFolder:
		return checkFolder(path)
	case err == nil && info.IsDir():
		return fmt.Errorf("%s: a folder: want the name of a file", input.Name(path))
	case err == nil && !info.Mode().IsRegular():
		return nil // a pipe or a device: opening it may wait
	case err == nil:
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return input.Plain(path, err)
		}
		return file.Close()
	case !errors.Is(err, os.ErrNotExist):
		return input.Plain(path, err)
	}
	parent := filepath.Dir(path)
	info, err = os.Stat(parent)
	switch {
	case isFolder && errors.Is(err, os.ErrNotExist): // MkdirAll makes it
		return checkOut(parent, true)
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s: there is no folder %s", input.Name(path), input.Name(parent))
	case err != nil:
		return input.Plain(path, err)
	case !info.IsDir():
		return fmt.Errorf("%s: %s is no folder", input.Name(path), input.Name(parent))
	}
	if isFolder {
		if err := os.Mkdir(path, 0o777); err != nil {
			return input.Plain(path, err)
		}
		return os.Remove(path)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return input.Plain(path, err)
	}
	return errors.Join(file.Close(), os.Remove(path))
}

// checkFolder fails for a folder in which no file can be made.
func checkFolder(path string) error {
	file, err := os.CreateTemp(path, ".posenc-*")
	if err != nil {
		return input.Plain(path, err)
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}
