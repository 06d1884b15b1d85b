package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-posenc/posenc/cmd/posenc/internal/array"
	"github.com/go-posenc/posenc/cmd/posenc/internal/output"
	"github.com/go-posenc/posenc/cmd/posenc/internal/source"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"posenc": main})
}

// TestScripts runs the command as a program. $MODELS are configurations of published models,
// $TESTDATA the folder testdata.
func TestScripts(t *testing.T) {
	models := kit.Must(filepath.Abs(configs))
	data := kit.Must(filepath.Abs("testdata"))
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *kit.Update,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("MODELS", models)
			e.Setenv("TESTDATA", data)
			if impl := os.Getenv("POSENC_IMPL"); impl != "" {
				e.Setenv("POSENC_IMPL", impl)
			}
			return nil
		},
	})
}

// Every command has what its help needs, an example that is one of it, and --json.
func TestHelp(t *testing.T) {
	root := newRoot()
	for _, c := range root.Commands() {
		if c.Short == "" || c.Long == "" || c.Args == nil || c.RunE == nil {
			t.Errorf("%s has no Short, Long, Args or RunE", c.Name())
		}
		for line := range strings.Lines(c.Example) {
			words := strings.Fields(line)
			for len(words) > 0 && strings.Contains(words[0], "=") { // environment
				words = words[1:]
			}
			if len(words) < 2 || words[0] != "posenc" || words[1] != c.Name() {
				t.Errorf("an example of %s is %q", c.Name(), line)
			}
		}
		if c.Example == "" {
			t.Errorf("%s has no example", c.Name())
		}
		help := succeed(t, c.Name(), "--help")
		if !strings.Contains(help, "Examples:") || !strings.Contains(help, "--json") {
			t.Errorf("help of %s:\n%s", c.Name(), help)
		}
		if different := slices.Contains([]string{"inspect", "check", "bench"}, c.Name()); !strings.Contains(help, "Exit codes: 0 ") || different != strings.Contains(help, ", 1 ") {
			t.Errorf("help of %s does not have its exit codes:\n%s", c.Name(), help)
		}
		for line := range strings.Lines(help) {
			if len(line) > 200 {
				t.Errorf("help of %s: %q", c.Name(), line)
			}
		}
	}
}

// Exit codes, and errors of one line that name the file and the key.
func TestExitCodes(t *testing.T) {
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		kit.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	llama := transformersData + "/configs/Llama-3.1-8B.json"
	truncated := kit.Must(os.ReadFile("testdata/gguf/Llama-3.1-8B.gguf"))
	base := file("base.json", `{"model_type": "llama", "rope_theta": -1}`)
	tower := file("tower.json", `{"model_type": "qwen2_vl", "vision_config": {"embed_dim": 7}, "num_attention_heads": 4, "hidden_size": 64, "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]}}`)
	// A header of a few bytes may claim a trillion heads of which there are none.
	header := "{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 0, 4, 128)}"
	nothing := file("nothing.npy", "\x93NUMPY\x01\x00"+string([]byte{byte(len(header)), 0})+header)
	for _, test := range []struct {
		code      int
		want      []string // in standard error
		arguments []string
	}{
		{exitError, []string{nothing, "want no dimension of 0"}, []string{"check", llama, nothing, nothing}},
		{exitOK, nil, []string{"inspect", llama}},
		{exitOK, nil, []string{}},
		{exitOK, nil, []string{"--version"}},
		{exitDifferent, nil, []string{"inspect", llama, "testdata/gguf/without-factors.gguf"}},
		{exitDifferent, nil, []string{"inspect", "--json", llama, transformersData + "/configs/Qwen3-8B.json"}},
		{exitOK, nil, []string{"inspect", tower}}, // its tower is an error that the text does not share
		{exitError, []string{"unknown flag: --x", "posenc inspect --help"}, []string{"inspect", "--x", llama}},
		{exitError, []string{base, "rope_theta is -1", "a number above 1"}, []string{"inspect", base}},
		{exitDifferent, nil, []string{"inspect", file("new.json", `{"model_type": "brandnew", "rope_theta": 10000}`)}},
		{exitError, []string{`model_type is "brandnew"`}, []string{"inspect", file("new2.json", `{"model_type": "brandnew", "rope_brand": 1}`)}},
		{exitError, []string{"none.json"}, []string{"inspect", filepath.Join(folder, "none.json")}},
		{exitError, []string{folder, "no config.json"}, []string{"inspect", folder}},
		{exitError, []string{"empty", "config is empty, want a JSON object"}, []string{"inspect", file("empty", "")}},
		{exitError, []string{"text", `config is a text that begins with "Read me", not JSON`}, []string{"inspect", file("text", "Read me")}},
		{exitError, []string{"half.json", "malformed in line 1, column 24: the text ends here"}, []string{"inspect", file("half.json", `{"model_type": "llama",`)}},
		{exitError, []string{"pointer.json", "a Git LFS pointer in place of the file"}, []string{"inspect", file("pointer.json", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 651\n")}},
		{exitError, []string{"comment.json", "line 2, column 3: a comment"}, []string{"inspect", file("comment.json", "{\n  // base\n}")}},
		{exitError, []string{"w.safetensors", "a safetensors file"}, []string{"inspect", file("w.safetensors", "\x40\x00\x00\x00\x00\x00\x00\x00{\"w\":")}},
		{exitError, []string{"half.gguf", "key 9 of 12, at byte 430", "truncated"}, []string{"inspect", file("half.gguf", string(truncated[:430]))}},
		{exitError, []string{"--positions", `"x"`}, []string{"vectors", llama, "--positions", "1,x", "--out", filepath.Join(folder, "v.npz")}},
		{exitError, []string{"--out"}, []string{"vectors", llama}},
		{exitError, []string{"v.bin", ".safetensors or .npz"}, []string{"vectors", llama, "--out", filepath.Join(folder, "v.bin")}},
	} {
		var stdout, stderr bytes.Buffer
		code := run(test.arguments, &stdout, &stderr)
		if code != test.code || (code == exitError) != (stderr.Len() > 0) || code == exitError && stdout.Len() > 0 {
			t.Errorf("posenc %q: exit code %d, want %d\n%s%s", test.arguments, code, test.code, &stdout, &stderr)
		}
		for _, want := range test.want {
			if !strings.Contains(stderr.String(), want) || strings.Count(stderr.String(), "\n") != 1 {
				t.Errorf("posenc %q: %q, want %q", test.arguments, &stderr, want)
			}
		}
	}
}

// A name with characters that a terminal takes for commands is in quotes wherever a command writes it: in
// errors, titles, reports, pictures and files.
func TestNames(t *testing.T) {
	const name = "a\x1b[31m\nb\u202e\x07"
	folder := t.TempDir()
	at := func(ending string) string { return filepath.Join(folder, name+ending) }
	put := func(ending string, data []byte) string {
		kit.NoError(t, os.WriteFile(at(ending), data, 0o600))
		return at(ending)
	}
	if err := os.WriteFile(at(""), nil, 0o600); err != nil {
		t.Skipf("NOT TESTED: the file system has no such names: %v", err)
	}
	config := put(".json", kit.ReadGolden(configs+"/Llama-3.2-1B.json"))
	base := put("base.json", []byte(`{"model_type": "llama", "rope_theta": -1}`))
	unknown := put("new.json", kit.ReadGolden("testdata/check/new.json"))
	before := put("before.npy", kit.ReadGolden("testdata/check/llama_before.npy"))
	after := put("after.npy", kit.ReadGolden("testdata/check/llama_after.npy"))
	positions := put("positions.npy", kit.ReadGolden("testdata/check/llama_positions.npy"))
	table := put("absolute.npy", kit.ReadGolden("testdata/check/absolute.npy"))
	kit.NoError(t, os.Mkdir(at("folder"), 0o700))
	kit.NoError(t, os.WriteFile(filepath.Join(at("folder"), "config.json"), kit.ReadGolden(config), 0o600))
	svg, vectors := at(".svg"), at("vectors")
	for _, arguments := range [][]string{
		{"inspect", config}, {"inspect", "--json", config}, {"inspect", config, config}, {"inspect", at("folder")}, {"inspect", base}, {"inspect", unknown}, {"inspect", at("none")},
		{"check", config, before, after, "--positions", positions}, {"check", config, before, before, "--positions", positions},
		{"check", "--json", config, before, after}, {"check", config, after, at("none")}, {"check", config, table, after}, {"check", config, before, after, "--positions", before},
		{"check", config, before, after, "--raw", "float32:1"}, {"check", config, before, after, "--cache", "int8", "--scales", positions},
		{"check", config, before, after, "--layer", name}, {"check", config, before, after, "--pairs", name}, {"check", config, before, after, "--shape", name},
		{"check", config, before + ":" + name, after}, {"check", "--absolute", table}, {"check", "--absolute", at("none")}, {"check", config, before, after, "--noise", name},
		{"vectors", config, "--positions", "1", "--out", vectors}, {"vectors", config, "--out", at(".x")}, {"vectors", config, "--out", base},
		{"plot", config}, {"plot", at("folder")}, {"plot", "--json", "--chart", "wavelengths", config}, {"plot", config, "--out", svg}, {"plot", config, "--out", at(".gif")}, {"plot", config, "--out", filepath.Join(at("none"), "p.png")},
		{"bench", "--out", at(".x")}, {name}, {"inspect", "--" + name}, {"help", name},
	} {
		var stdout, stderr bytes.Buffer
		run(arguments, &stdout, &stderr)
		written := map[string]string{"standard output": stdout.String(), "standard error": stderr.String()}
		for _, path := range []string{svg, filepath.Join(vectors, "README.txt"), filepath.Join(vectors, "index.txt"), filepath.Join(vectors, "rotations.txt")} {
			if data, err := os.ReadFile(path); err == nil {
				written[path] = string(data)
			}
		}
		for where, text := range written {
			if strings.ContainsAny(text, "\x1b\x07\u202e") && (where != "standard output" || !slices.Contains(arguments, "--json") || strings.ContainsAny(text, "\x1b\x07")) {
				t.Errorf("posenc %q: %s has the name as it is:\n%q", arguments, where, text)
			}
			if strings.Contains(text, "[31m\nb") {
				t.Errorf("posenc %q: %s has the end of a line of the name:\n%s", arguments, where, text)
			}
		}
	}
	for _, path := range []string{svg, vectors} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("nothing was written: %v", err)
		}
	}
}

// Plots fit the terminal, and fill it where there is more to see.
func TestPlotWidth(t *testing.T) {
	model := configs + "/gemma-3-1b-it.json"
	for _, width := range []int{30, 45, 80, 132, 250} {
		t.Setenv("COLUMNS", strconv.Itoa(width))
		widest := 0
		for line := range strings.Lines(succeed(t, "plot", model) + succeed(t, "plot", "--chart", "prompt")) {
			columns := utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))
			widest = max(widest, columns)
			// A word that is longer than a line, as the name of a model may be, would stand out.
			if columns > width {
				t.Errorf("%d columns of %d: %s", columns, width, line)
			}
		}
		if widest < width-8 {
			t.Errorf("at most %d columns of %d", widest, width)
		}
	}
}

// What any file says is described without a panic, in text and in JSON, and agrees with itself.
func FuzzInspect(f *testing.F) {
	for _, pattern := range []string{"testdata/gguf/*.gguf", transformersData + "/configs/*.json"} {
		for _, path := range kit.Must(filepath.Glob(pattern)) {
			f.Add(kit.ReadGolden(path))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := source.Read("file", bytes.NewReader(data), int64(len(data)))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "file: ") || len(err.Error()) > 3000 {
				t.Fatal(err)
			}
			return
		}
		d, err := describe(s)
		if err != nil {
			// Numbers that make no frequencies of the model's longest sequence.
			return
		}
		d.WriteText(output.NewText(io.Discard))
		if _, err := json.Marshal(d); err != nil {
			t.Fatal(err)
		}
		for _, part := range []*modelDescription{d.Text, d.Vision} {
			if part == nil {
				continue
			}
			for _, k := range part.Kinds {
				if len(k.Layers) == 0 || k.Fourier == nil && len(k.InvFreq) != k.RotaryDim/2 || k.Fourier != nil && len(k.InvFreq)+k.Fourier.PaddedPairs != k.RotaryDim/2 || math.IsNaN(k.InvFreq[0]) {
					t.Fatalf("%+v", k)
				}
			}
		}
		if r := compare(d, d); !r.Same || len(r.Notes) > 0 && !d.VisionUnread {
			t.Fatalf("it differs from itself: %+v", r)
		}
	})
}

// The rows of a bench, whose cells have commas, are read back from CSV and are a table of Markdown.
func TestTableFormats(t *testing.T) {
	rows := [][]string{{"cpu", "ns"}, {"EPYC, family 25", "1.5"}}
	if got := kit.Must(csv.NewReader(strings.NewReader(tableFormats[".csv"](rows))).ReadAll()); !reflect.DeepEqual(got, rows) {
		t.Errorf("CSV: %q", got)
	}
	if got, want := tableFormats[".md"](rows), "| cpu | ns |\n|---|---|\n| EPYC, family 25 | 1.5 |\n"; got != want {
		t.Errorf("Markdown: %q, want %q", got, want)
	}
}

// A file of a type that nobody knows is read by the types whose keys it has: in pairs of neighbours by the
// code of Llama 4, in halves by that of SmolLM3.
func TestCandidates(t *testing.T) {
	var stdout, stderr strings.Builder
	if code := run([]string{"inspect", "testdata/check/new.json"}, &stdout, &stderr); code != exitDifferent {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	for _, want := range []string{`model_type is "brandnew", want`, "\nllama4_text\n  21 of 28 layers", "interleaved: element 2i with 2i+1", "\nsmollm3\n"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, &stdout)
		}
	}
	if strings.Contains(stdout.String(), "\nllama\n") { // which rotates in all layers
		t.Errorf("llama in\n%s", &stdout)
	}

	// Of a file that most types can read, the text has the first readings.
	stdout.Reset()
	path := filepath.Join(t.TempDir(), "config.json")
	kit.NoError(t, os.WriteFile(path, []byte(`{"model_type": "brandnew", "rope_theta": 10000}`), 0o600))
	run([]string{"inspect", path}, &stdout, &stderr)
	if n := strings.Count(stdout.String(), "\n"); n > 60 || !regexp.MustCompile(`\nand \d+ more readings, of \d+ types: --json has them.\n$`).MatchString(stdout.String()) {
		t.Errorf("%d lines:\n%s", n, &stdout)
	}
}

// Numbers of a GGUF file are float32, and inspect writes the shortest number that is the same float32.
func TestFloat32Texts(t *testing.T) {
	m := kit.Must(modelconfig.GGUF(map[string]any{
		"general.architecture": "llama4", "llama4.block_count": uint32(4), "llama4.attention.head_count": uint32(1), "llama4.embedding_length": uint32(64),
		"llama4.rope.scaling.type": "yarn", "llama4.rope.scaling.factor": float32(4.3), "llama4.rope.scaling.attn_factor": float32(1.1), "llama4.context_length": uint32(100),
		"llama4.rope.scaling.yarn_ext_factor": float32(0.7), "llama4.attention.temperature_scale": float32(0.1), "llama4.attention.temperature_length": uint32(8192),
	}, map[string][]float32{"token_embd.weight": nil}))
	var text strings.Builder
	d := kit.Must(describe(&source.Source{Path: "x.gguf", Format: source.GGUF, Model: m}))
	d.WriteText(output.NewText(&text))
	for _, want := range []string{"factor 4.3,", "extrapolation_factor 0.7", "attention_multiplier 1.1,", "1 + 0.1 ln("} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
}

// numpy and safetensors of Python have read, from what vectors writes, the arrays and the README
// that were to be written: testdata/readers/read.py made readers.txt with them. Tests need
// no Python.
func TestReaders(t *testing.T) {
	want := kit.Must(os.ReadFile("testdata/readers/readers.txt"))
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
		file := kit.Must(array.ReadFile(out))
		got := []string{fmt.Sprintf("%s %s README %x", model, ending, sha256.Sum256([]byte(file.Texts["README"])))}
		for _, a := range file.Arrays {
			var data bytes.Buffer
			kit.NoError(t, binary.Write(&data, binary.LittleEndian, a.Values))
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

func llama31() []rotation {
	return kit.Must(rotations(kit.Must(source.Load(configs + "/Llama-3.1-8B.json"))))
}

// TestPictures: the pictures of the documents are what the commands beside them draw; -update
// draws them.
func TestPictures(t *testing.T) {
	pictures := kit.Must(filepath.Abs("../../docs/pictures"))
	drawn := []string{"speed.png"} // bench draws it
	decode := func(path string) image.Image {
		return kit.Must(png.Decode(bytes.NewReader(kit.ReadGolden(path))))
	}
	var text []byte
	for _, document := range kit.Must(filepath.Glob("../../docs/*.md")) {
		text = append(text, kit.ReadGolden(document)...)
	}
	t.Chdir(configs)
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		out := slices.Index(words, "--out") + 1
		if out == 0 || !strings.HasPrefix(line, "posenc plot ") {
			continue
		}
		name := words[out]
		committed := filepath.Join(pictures, name)
		words[out] = filepath.Join(t.TempDir(), name)
		if *kit.Update {
			words[out] = committed
		}
		succeed(t, words[1:]...)
		if !reflect.DeepEqual(decode(words[out]), decode(committed)) {
			t.Errorf("docs/pictures/%s is not what its command draws: go test -C cmd/posenc -run TestPictures . -update", name)
		}
		drawn = append(drawn, name)
	}
	for _, file := range kit.Must(filepath.Glob(filepath.Join(pictures, "*.png"))) {
		if !slices.Contains(drawn, filepath.Base(file)) {
			t.Errorf("no document says how %s is drawn", file)
		}
	}
}

// TestMeanCos: every integer is in one bin, and the mean of a bin is that of the sum.
func TestMeanCos(t *testing.T) {
	next := 1
	for _, b := range bins(5000, 30) {
		if b.first != next || b.last < b.first {
			t.Fatalf("bin %v after %d", b, next-1)
		}
		next = b.last + 1
		for _, w := range []float64{0, 1e-9, 0.3, 2, 2 * math.Pi} {
			sum := 0.0
			for n := b.first; n <= b.last; n++ {
				sum += math.Cos(float64(n) * w)
			}
			// Angles of up to 5000*2*pi have roundings of 2^-39, and so have the cosines.
			if got, want := meanCos(w, b.first, b.last), sum/float64(b.last-b.first+1); math.Abs(got-want) > 4e-12 {
				t.Errorf("mean of cos(n*%v) for n = %v: %v, want %v", w, b, got, want)
			}
		}
	}
	if next != 5001 {
		t.Errorf("the last bin ends at %d", next-1)
	}
}

// TestAngleErrors: an angle of float32 is off by at most half a unit in its last place and that
// of its frequency, 2^-24 of the angle each, a little more for pairs whose frequency is made in several steps; and the
// fastest pair, 1 radian per position, is exact.
func TestAngleErrors(t *testing.T) {
	c := kit.Must(angleErrors(llama31()))
	curve := c.Curves[0]
	for i, x := range curve.X {
		if y := curve.Y[i]; y > math.Ldexp(4*1.1*x, -24) || x > 100 && y < math.Ldexp(0.1*x, -24) {
			t.Errorf("position %v: error %v", x, y)
		}
	}
}
