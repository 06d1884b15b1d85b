package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/cmd/posenc/internal/array"
	"github.com/go-posenc/posenc/cmd/posenc/internal/output"
	"github.com/go-posenc/posenc/cmd/posenc/internal/source"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig"
	"github.com/go-posenc/posenc/ropetest"
)

// transformersVectors is what transformers computes for a published model;
// modelconfig/testdata/transformers/README.md says how its files were made.
type transformersVectors struct {
	Layers [][2]any             `json:"layers"` // kind, rotates
	Cases  []transformersVector `json:"cases"`
	Vision *transformersVectors `json:"vision"`
}

type transformersVector struct {
	LayerType string `json:"layer_type"`
	Seq       int    `json:"seq"`
	HeadDim   int    `json:"head_dim"`
	Exact     struct {
		InvFreq   string `json:"inv_freq"`
		Attention string `json:"attention_factor"`
		Softmax   string `json:"softmax_scale"`
	} `json:"exact"`
}

const transformersData = "../../modelconfig/testdata/transformers"

// succeed runs the command and returns what it writes.
func succeed(t *testing.T, arguments ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(arguments, &stdout, &stderr); code != exitOK || stderr.Len() > 0 {
		t.Fatalf("posenc %s: exit code %d\n%s", strings.Join(arguments, " "), code, &stderr)
	}
	return stdout.String()
}

// What inspect says of published models is what transformers' own code does: which layers
// rotate, the frequencies and factors of each kind.
func TestInspectPublished(t *testing.T) {
	files := kit.Must(filepath.Glob(transformersData + "/vectors/*.json"))
	if len(files) < 20 {
		t.Fatalf("%d models", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			var v transformersVectors
			kit.ReadJSON(file, &v)
			config := transformersData + "/configs/" + filepath.Base(file)
			var d description
			kit.NoError(t, json.Unmarshal([]byte(succeed(t, "inspect", "--json", config)), &d))
			if text := succeed(t, "inspect", config); !strings.Contains(text, "model "+d.Text.Type) || strings.Contains(text, "\x1b") || strings.Contains(text, "%!") {
				t.Error(text)
			}
			compareInspected(t, d.Text, &v)
			if (d.Vision != nil) != (v.Vision != nil) {
				t.Fatalf("a tower that rotates: %t", d.Vision != nil)
			}
			if v.Vision != nil {
				compareInspected(t, d.Vision, v.Vision)
			}
			var difference difference
			if err := json.Unmarshal([]byte(succeed(t, "inspect", "--json", config, config)), &difference); err != nil || !difference.Same || len(difference.Notes) > 0 && !d.VisionUnread {
				t.Errorf("it differs from itself: %+v, %v", difference, err)
			}
		})
	}
}

func compareInspected(t *testing.T, d *modelDescription, v *transformersVectors) {
	t.Helper()
	if d.Layers != len(v.Layers) {
		t.Fatalf("%d layers, want %d", d.Layers, len(v.Layers))
	}
	for i, layer := range v.Layers {
		if rotates := !slices.Contains(d.Unrotated, i); rotates != layer[1].(bool) {
			t.Errorf("layer %d rotates: %t", i, rotates)
		}
	}
	for _, c := range v.Cases {
		i := slices.IndexFunc(d.Kinds, func(k kindDescription) bool {
			return k.LayerType == c.LayerType && (k.SequenceLength == c.Seq || c.Seq == 0)
		})
		if i < 0 {
			continue // of another length
		}
		k := d.Kinds[i]
		if !k.Indexer {
			for layer, kind := range v.Layers {
				if kind[1].(bool) && (kind[0] == c.LayerType) != slices.Contains(k.Layers, layer) {
					t.Errorf("layer %d of %q is among those of %q, or not", layer, kind[0], c.LayerType)
				}
			}
		}
		if !slices.Equal(k.InvFreq, kit.Hex[float64](c.Exact.InvFreq)) {
			t.Errorf("%q: other frequencies", c.LayerType)
		}
		if want := kit.Hex[float64](c.Exact.Attention)[0]; k.AttentionFactor != want {
			t.Errorf("%q: attention factor %v, want %v", c.LayerType, k.AttentionFactor, want)
		}
		if want := kit.Hex[float64](c.Exact.Softmax)[0]; k.SoftmaxScale != want {
			t.Errorf("%q: softmax scale %v, want %v", c.LayerType, k.SoftmaxScale, want)
		}
		if k.HeadDim != c.HeadDim {
			t.Errorf("%q: heads of %d, want %d", c.LayerType, k.HeadDim, c.HeadDim)
		}
	}
}

// vectorSet is the set that is released: of each model of ropetest the frequencies, factors and layout of
// its rotations, and one head of Q and one of K at two positions, in float32.
func vectorSet(t *testing.T) *array.File {
	v := &vectorFile{given: true, queries: 1, rotations: rotationsTitle}
	readme := output.NewText(&v.readme)
	readme.Printf("Golden vectors of posenc (https://github.com/go-posenc/posenc), set 1: forty models\n")
	for name, config := range ropetest.Models() {
		s := kit.Must(source.Read(name+".json", bytes.NewReader(config), int64(len(config))))
		add := func(name string, m *modelconfig.Model, axes ...[]int32) {
			v.axes = axes
			for _, k := range kindsOf(m) {
				kit.NoError(t, v.kind(&k, name))
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
	const committed = "../../testdata/vectors/1"
	folder := filepath.Join(t.TempDir(), "set")
	if *kit.Update {
		folder = committed
	}
	kit.NoError(t, array.WriteFile(folder, vectorSet(t)))
	for _, name := range []string{"README.txt", "rotations.txt", "index.txt", "data.bin"} {
		if !bytes.Equal(kit.Must(os.ReadFile(filepath.Join(folder, name))), kit.ReadGolden(filepath.Join(committed, name))) {
			t.Errorf("%s of %s has other bytes. Engines test with them: other numbers are another set", name, committed)
		}
	}
}
