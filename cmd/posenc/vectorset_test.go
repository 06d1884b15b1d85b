package main

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/cmd/posenc/internal/array"
	"github.com/go-posenc/posenc/cmd/posenc/internal/output"
	"github.com/go-posenc/posenc/cmd/posenc/internal/source"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/modelconfig"
	"github.com/go-posenc/posenc/ropetest"
)

// vectorSet is the set that is released: of each model of ropetest the frequencies, factors and layout of
// its rotations, and one head of Q and one of K at two positions, in float32.
func vectorSet(t *testing.T) *array.File {
	v := &vectorFile{given: true, queries: 1, rotations: rotationsTitle}
	readme := output.NewText(&v.readme)
	readme.Printf("Golden vectors of posenc (https://github.com/go-posenc/posenc), set 1: forty models\n")
	for name, config := range ropetest.Models() {
		s := testkit.Must(source.Read(name+".json", bytes.NewReader(config), int64(len(config))))
		add := func(name string, m *modelconfig.Model, axes ...[]int32) {
			v.axes = axes
			for _, k := range kindsOf(m) {
				testkit.NoError(t, v.kind(&k, name))
			}
		}
		if s.Model != nil {
			last := int32(cmp.Or(s.Model.ContextLength(), 8192) - 1)
			add(name, s.Model, []int32{300, last}, []int32{305, last - 3}, []int32{309, last - 9})
		}
		if s.Vision != nil {
			add(name+".vision", s.Vision, []int32{17, 40}, []int32{3, 55})
		}
	}
	set := array.File{}
	var what [][]string
	for i, a := range v.Arrays {
		for _, name := range []string{".positions", ".axes", ".inv_freq", ".q.float32", ".k.float32", "q_rotated.float32", "k_rotated.float32"} {
			if strings.HasSuffix(a.Name, name) {
				set.Arrays, what = append(set.Arrays, a), append(what, v.what[i])
			}
		}
	}
	v.what = what
	v.finish(readme)
	set.Texts = map[string]string{"README": v.readme.String(), "rotations": v.rotations}
	return &set
}

// The set in the folder vectors is what posenc computes; -update writes it.
func TestVectorSet(t *testing.T) {
	const committed = "../../vectors/1"
	folder := filepath.Join(t.TempDir(), "set")
	if *testkit.Update {
		folder = committed
	}
	testkit.NoError(t, array.WriteFile(folder, vectorSet(t)))
	for _, name := range []string{"README.txt", "rotations.txt", "index.txt", "data.bin"} {
		if !bytes.Equal(testkit.Must(os.ReadFile(filepath.Join(folder, name))), testkit.ReadGolden(filepath.Join(committed, name))) {
			t.Errorf("%s of %s has other bytes. Engines test with them: other numbers are another set", name, committed)
		}
	}
}
