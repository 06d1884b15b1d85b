package input

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What never ends is an error at the bound, or ends there. The scripts of the command read pipes that end.
func TestBound(t *testing.T) {
	const endless = "/dev/zero"
	if _, err := os.Stat(endless); err != nil {
		t.Skip("NOT TESTED: there is no " + endless)
	}
	if _, err := Open(endless, 1000); err == nil || !strings.Contains(err.Error(), "/dev/zero: a pipe of more than 1000 bytes") {
		t.Errorf("error %v", err)
	}
	f, err := OpenStart(endless, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Size != 1000 || !f.Cut {
		t.Errorf("%d bytes, cut %t", f.Size, f.Cut)
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
