package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/cmd/posenc/internal/array"
	"github.com/go-posenc/posenc/internal/testkit"
)

// numpy and safetensors of Python have read, from what vectors writes, the arrays and the README
// that were to be written: testdata/readers/read.py made readers.txt with them. Tests need
// no Python.
func TestReaders(t *testing.T) {
	want := testkit.Must(os.ReadFile("testdata/readers/readers.txt"))
	t.Chdir(transformersData + "/configs") // the README has the path of the configuration
	seen := map[string]bool{}
	for line := range strings.Lines(string(want)) {
		fields := strings.Fields(line)
		model, ending := fields[0], fields[1]
		if seen[model+ending] {
			continue
		}
		seen[model+ending] = true
		out := filepath.Join(t.TempDir(), "vectors."+ending)
		succeed(t, "vectors", model+".json", "--positions", "0,1,511", "--out", out)
		file := testkit.Must(array.ReadFile(out))
		got := []string{fmt.Sprintf("%s %s README %x", model, ending, sha256.Sum256([]byte(file.Texts["README"])))}
		for _, a := range file.Arrays {
			var data bytes.Buffer
			testkit.NoError(t, binary.Write(&data, binary.LittleEndian, a.Values))
			shape := strings.Trim(strings.ReplaceAll(fmt.Sprint(a.Shape), " ", ","), "[]")
			got = append(got, fmt.Sprintf("%s %s %s %s %s %x", model, ending, a.Name, typeName(a.Values), shape, sha256.Sum256(data.Bytes())))
		}
		for _, line := range got {
			if !strings.Contains(string(want), line+"\n") {
				t.Errorf("Python has not read %s", line)
			}
		}
		if n := strings.Count(string(want), model+" "+ending+" "); n != len(got) {
			t.Errorf("%s %s: Python has read %d arrays and texts, want %d", model, ending, n, len(got))
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d files, want 4", len(seen))
	}
}
