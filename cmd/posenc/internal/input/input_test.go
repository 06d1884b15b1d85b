package input

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What never ends is read as far as it is asked for, and an error at the bound. The scripts of the command read
// pipes that end.
func TestBound(t *testing.T) {
	const endless = "/dev/zero"
	if _, err := os.Stat(endless); err != nil {
		t.Skip("NOT TESTED: there is no " + endless)
	}
	f, err := Open(endless, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := f.ReaderAt.(*pipe)
	if n, err := f.ReadAt(make([]byte, 10), 0); n != 10 || err != nil || p.end > 100 || f.Size != Unknown {
		t.Errorf("%d bytes, %v; %d were read", n, err, p.end)
	}
	if n, err := f.ReadAt(make([]byte, 10), 1<<28); n != 10 || err != nil || cap(p.kept) > 4*keptOfPipe {
		t.Errorf("%d bytes, %v; %d are kept", n, err, cap(p.kept))
	}
	if _, err := f.ReadAt(make([]byte, 10), 0); err == nil || !strings.Contains(err.Error(), "cannot be read again") {
		t.Errorf("error %v", err)
	}
	short, err := Open(endless, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer short.Close()
	if n, err := short.ReadAt(make([]byte, 1001), 0); n != 1000 || err == nil || !strings.Contains(err.Error(), "a pipe of more than 1000 bytes") {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// A pipe is what it brings, in any steps, and goes back a little.
func TestPipe(t *testing.T) {
	data := make([]byte, 5*keptOfPipe+7)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	for _, step := range []int{1 << 10, 1 << 16, keptOfPipe + 1, 3 * keptOfPipe} {
		p := &pipe{from: bytes.NewReader(data), most: int64(len(data))}
		for at := 0; at < len(data); at += step {
			from := max(0, at-keptOfPipe/2)
			got := make([]byte, min(at+step, len(data))-from)
			if n, err := p.ReadAt(got, int64(from)); n != len(got) || err != nil || !bytes.Equal(got, data[from:][:n]) {
				t.Fatalf("steps of %d, at %d: %d bytes, %v", step, at, n, err)
			}
		}
		if n, err := p.ReadAt(make([]byte, 9), int64(len(data))-4); n != 4 || err != io.EOF {
			t.Errorf("steps of %d: %d bytes, %v at the end", step, n, err)
		}
		if _, err := p.ReadAt(make([]byte, 9), int64(len(data))+4); err != io.EOF {
			t.Errorf("steps of %d: %v beyond the end", step, err)
		}
	}
}

// A named pipe that has no writer is an error after a time, and its folder's config.json does not hang.
func TestPipeWithoutWriter(t *testing.T) {
	defer func(d time.Duration) { patience = d }(patience)
	patience = 50 * time.Millisecond
	path := filepath.Join(t.TempDir(), "config.json")
	if output, err := exec.Command("mkfifo", path).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: mkfifo: %v %s", err, output)
	}
	if _, err := Open(path, 1000); err == nil || !strings.Contains(err.Error(), "config.json: a pipe that nothing was written to") {
		t.Errorf("error %v", err)
	}
}

// Errors of files have plain words, and names that do not print are quoted.
func TestPlain(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, []byte("version https://git-lfs.github.com/spec/v1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		folder:                      folder + ": a folder: want a file",
		file:                        file + ": a Git LFS pointer in place of the file: git lfs pull fetches the file",
		"":                          `"": no such file`,
		folder + "/none":            folder + "/none: no such file",
		file + "/none":              file + "/none: no such file: a part of its path is no folder",
		folder + "/\x1b[31mr\n":     `"` + folder + `/\x1b[31mr\n": no such file`,
		strings.Repeat("name", 100): strings.Repeat("name", 100) + ": the name is too long",
	} {
		if _, err := Open(path, 1); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", path, err, want)
		}
	}
	if _, err := Open(folder+"/none", 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
}
