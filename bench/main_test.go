package main

import (
	"bytes"
	"image/color"
	"image/png"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/cpuname"
	"github.com/go-posenc/posenc/internal/test/kit"
)

// The runner starts itself, which here is the test.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childCommand {
		main()
		return
	}
	os.Exit(m.Run())
}

func quiet() *progress { return newProgress(kit.Must(os.OpenFile(os.DevNull, os.O_WRONLY, 0))) }

func TestRunWritesEverything(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "a", "b")
	kit.NoError(t, run(shortened, thisMachine("go test"), directory, quiet()))
	var names []string
	contents := map[string][]byte{}
	for _, e := range kit.Must(os.ReadDir(directory)) {
		names = append(names, e.Name())
		contents[e.Name()] = kit.Must(os.ReadFile(filepath.Join(directory, e.Name())))
	}
	want := []string{"accuracy.png", "costs.png", "goroutines.png", "implementations.png", "peers.png", "raw.txt", "report.md"}
	if !slices.Equal(names, want) {
		t.Fatalf("files %q, want %q", names, want)
	}
	text := string(contents["report.md"])
	for _, name := range names {
		if name != "report.md" && !strings.Contains(text, "("+name+")") {
			t.Errorf("report.md does not refer to %s", name)
		}
		if strings.HasSuffix(name, ".png") {
			picture, err := png.Decode(bytes.NewReader(contents[name]))
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if size := picture.Bounds().Size(); size.X != 900 || size.Y != 560 {
				t.Errorf("%s is %v, want 900 x 560", name, size)
			}
		}
	}

	checkTables(t, text)
	for i, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "| - |") && posenc.Implementation() != "generic" {
			t.Errorf("report.md:%d: no figure: %s", i+1, line)
		}
	}

	// Every case has as many samples as it should, and no other names occur.
	r := kit.Must(parse(string(contents["raw.txt"])))
	cases := append(soloCases(shortened, true), goroutineCases(shortened)...)
	list := kit.Must(implementations())
	if !slices.Contains(list, posenc.Implementation()) {
		t.Errorf("implementations %q, with %s here", list, posenc.Implementation())
	}
	for _, other := range list[1:] {
		for _, x := range rotations(shortened) {
			if len(r[x.name(other)]) == 0 {
				t.Errorf("no sample of %s", x.name(other))
			}
		}
	}
	for _, c := range cases {
		if len(r[c.Name]) != shortened.runs*shortened.rounds {
			t.Errorf("%d samples of %s", len(r[c.Name]), c.Name)
		}
	}
	if want := len(cases) + (len(list)-1)*(len(rotations(shortened))+len(tables(shortened))); len(r) != want {
		t.Errorf("%d names, want %d: two cases share one", len(r), want)
	}
}

// checkTables checks that every table has as many cells in each row as in its head.
func checkTables(t *testing.T, text string) {
	t.Helper()
	cells := 0
	for i, line := range strings.Split(text, "\n") {
		n := strings.Count(line, "|")
		if n == 0 {
			cells = 0
			continue
		}
		if cells == 0 {
			cells = n
		}
		if n != cells || !strings.HasPrefix(line, "|") || !strings.HasSuffix(line, "|") {
			t.Errorf("line %d: %d cells, the head of the table has %d: %s", i+1, n-1, cells-1, line)
		}
		if strings.Contains(line, "NaN") || strings.Contains(line, "Inf") {
			t.Errorf("line %d: no figure: %s", i+1, line)
		}
	}
}

func TestCaches(t *testing.T) {
	directory := t.TempDir()
	kit.NoError(t, runCaches(cachedShort, "q8_0,iq4_nl,openvino-u8", thisMachine("go test"), directory, quiet()))
	text := string(kit.ReadGolden(filepath.Join(directory, "caches.md")))
	checkTables(t, text)
	for _, row := range []string{"| q8_0 |", "| iq4_nl |", "| openvino-u8 |"} {
		if n := strings.Count(text, row); n != 3 {
			t.Errorf("%d rows begin with %s, want those of two tables of stores and one of reads", n, row)
		}
	}
	if err := runCaches(cachedShort, "q8", thisMachine("go test"), directory, quiet()); err == nil || !strings.Contains(err.Error(), "q8_0") {
		t.Errorf("%v, want the names of the formats", err)
	}
	names := map[string]bool{}
	for _, c := range cacheCases(cachedShort, cacheFormats) {
		if names[c.Name] {
			t.Errorf("two cases share the name %s", c.Name)
		}
		names[c.Name] = true
		kit.NoError(t, c.Run())
	}
}

// What is known of each kind of angles. Neither exact ones nor the ladder share code with the
// reference, so that a wrong reference shows too.
func TestAccuracy(t *testing.T) {
	for _, c := range accuracyCurves(31, 4, quiet()) {
		// The README and the documentation of posenc: float32 angles of Llama 3 are wrong by up to
		// 9.3e-3 radians below position 131,072, and so are their cosines.
		if e := slices.Max(c.worst[:17]); c.name == "float32" && (e > 9.3e-3 || e < 2e-3) {
			t.Errorf("%s: error %g, want somewhat less than 9.3e-3", c.name, e)
		}
		for octave, e := range c.worst {
			// Each rounding to float32 makes an angle wrong by at most 2^-24 of it: those
			// of the frequency, of the product and, from 2^24 on, of the position; the
			// recurrence has two for every pair.
			roundings := map[string]float64{"exact": 0, "float32": 3, "loop": 5, "recurrence": 2 * pairs}[c.name]
			most := min(2, roundings*math.Ldexp(1, octave+1-24)) + 0x1p-25 // half a unit in the last place of a number up to 1
			if e > most {
				t.Errorf("%s: error %g at positions of 2^%d, at most %g is possible", c.name, e, octave, most)
			}
			// Of 64 pairs one comes close to it, and from 2^26 on nothing is left.
			if c.name == "exact" && e < 0x1p-27 || c.name != "exact" && octave >= 26 && e < 1 {
				t.Errorf("%s: error %g at positions of 2^%d is too good to be true", c.name, e, octave)
			}
		}
	}
}

func TestPosencAmongItsPeers(t *testing.T) {
	all := compared()
	m := allocate(shortened, true)
	for _, c := range comparisons(shortened) {
		found := 0
		for i := range all {
			if !c.computedBy(&all[i]) {
				continue
			}
			if found++; found > 1 {
				break
			}
			if all[i].Name != "posenc" {
				t.Errorf("%s: the first is %s, want posenc", c.operation, all[i].Name)
			}
			c.call(&all[i], m)()
			if ref := c.reference(16); ref == nil {
				if c.rows > 0 || c.angles > 0 {
					t.Errorf("%s: no reference", c.operation)
				}
			} else if _, ulps := ref.worst(&all[i]); ulps > 0.5 {
				t.Errorf("%s: error of %v units in the last place, want at most half of one", c.operation, ulps)
			}
		}
		if found < 2 {
			t.Errorf("%s: posenc has no peer", c.operation)
		}
	}
}

// What stands for posenc among the peers is what its functions compute, to the bit:
// rotations as well, by a ready row and with one of their own.
func TestPosencAsPeers(t *testing.T) {
	all := posencAsPeers()
	const heads = 3
	positions := []int32{0, 1, 4321, math.MaxInt32}
	for _, layout := range layouts {
		rotary := kit.Must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Base: base, Layout: layout}))
		x := make([]float32, len(positions)*heads*headDim)
		for i := range x {
			x[i] = float32(i%29) - 14.3
		}
		want := slices.Clone(x)
		kit.NoError(t, posenc.Rotate(rotary.At(positions), posenc.View[float32]{Data: want, Heads: heads}))
		cos, sin := make([]float32, len(positions)*pairs), make([]float32, len(positions)*pairs)
		kit.NoError(t, rotary.CosSin(cos, sin, positions))
		ran := 0
		for _, p := range all {
			got := slices.Clone(x)
			switch {
			case p.Operator[layout] != nil:
				p.Operator[layout](got, positions, heads, headDim, base)
			case p.Ready[layout] != nil:
				for i := range positions {
					p.Ready[layout](got[i*heads*headDim:][:heads*headDim], cos[i*pairs:][:pairs], sin[i*pairs:][:pairs], heads, headDim)
				}
			default:
				continue
			}
			ran++
			if !slices.Equal(got, want) {
				t.Errorf("%s, %s: not the bits of Rotate", p.Computes, layoutName(layout))
			}
		}
		if ran != 2 {
			t.Errorf("%s: %d rotations, want the kernel and the operator", layoutName(layout), ran)
		}
	}
}

func TestMachine(t *testing.T) {
	if got := (machine{cpu: "AMD EPYC 9B45 (Zen-5), family 26"}).slug(); got != "amd-epyc-9b45-zen-5-family-26" {
		t.Errorf("slug %q", got)
	}
	if m := thisMachine("x"); m.cpu == "" || m.cores < 1 || m.commit == "" || m.slug() == "" {
		t.Errorf("machine %+v", m)
	}
	if got := (machine{caches: []cpuname.Cache{{Level: 1, Bytes: 64 << 10}, {Level: 3, Bytes: 32 << 20}}}).cacheList(); got != "L1 64 KiB, L3 32 MiB" {
		t.Errorf("caches %q", got)
	}
}

// Plain Go has no figures where GOEXPERIMENT=simd makes it slower than it is.
func TestWithFigures(t *testing.T) {
	for _, test := range []struct {
		experiment string
		list, want []string
	}{
		{"", []string{"avx2", "generic"}, []string{"avx2", "generic"}},
		{"arenas,nosimd", []string{"avx2", "generic"}, []string{"avx2", "generic"}},
		{"simd", []string{"avx512", "avx2", "generic"}, []string{"avx512", "avx2"}},
		{"arenas,simd", []string{"neon", "generic"}, []string{"neon"}},
		{"simd", []string{"generic"}, nil},
	} {
		got, err := withFigures(test.list, []debug.BuildSetting{{Key: "-compiler", Value: "gc"}, {Key: "GOEXPERIMENT", Value: test.experiment}})
		if !slices.Equal(got, test.want) || (err == nil) != (test.want != nil) {
			t.Errorf("GOEXPERIMENT=%s, %q: %q, %v, want %q", test.experiment, test.list, got, err, test.want)
		}
	}
}

func TestCommand(t *testing.T) {
	for _, test := range []struct {
		build     []debug.BuildSetting
		arguments []string
		want      string
	}{
		{nil, nil, "go run -C bench ."},
		{[]debug.BuildSetting{{Key: "-compiler", Value: "gc"}, {Key: "GOAMD64", Value: "v1"}, {Key: "GOARM64", Value: "v8.0"}}, []string{"-o", "x"}, "go run -C bench . -o x"},
		{[]debug.BuildSetting{{Key: "-tags", Value: "cgopeers"}, {Key: "GOEXPERIMENT", Value: "simd"}, {Key: "GOAMD64", Value: "v3"}}, nil,
			"GOEXPERIMENT=simd GOAMD64=v3 go run -C bench -tags cgopeers ."},
	} {
		if got := commandOf(test.build, test.arguments); got != test.want {
			t.Errorf("%v, %q: %q, want %q", test.build, test.arguments, got, test.want)
		}
	}
}

// The chart and the tables of the documents are those of the results: nobody has
// written a figure into them.
func TestFigures(t *testing.T) {
	list := kit.Must(publishedMachines(resultsDirectory))
	document := kit.ReadGolden(figuresFile)
	want := kit.Must(replaceFigures(document, figureTables(list)))
	if !bytes.Equal(document, want) {
		t.Errorf("the tables of %s are not those of %s: go run -C bench . -figures", figuresFile, resultsDirectory)
	}
	if !samePicture(kit.Must(drawChart(list)), kit.ReadGolden(chartFile)) {
		t.Errorf("%s is not drawn from %s: go run -C bench . -figures", chartFile, resultsDirectory)
	}
}

func samePicture(a, b []byte) bool {
	x, y := kit.Must(png.Decode(bytes.NewReader(a))), kit.Must(png.Decode(bytes.NewReader(b)))
	same, width := x.Bounds() == y.Bounds(), x.Bounds().Dx()
	for i := 0; same && i < width*x.Bounds().Dy(); i++ {
		same = color.RGBAModel.Convert(x.At(i%width, i/width)) == color.RGBAModel.Convert(y.At(i%width, i/width))
	}
	return same
}

// A sample of a file is in the tables and in the picture: others make others.
func TestFiguresFollowTheFiles(t *testing.T) {
	directory := t.TempDir()
	kit.NoError(t, os.CopyFS(directory, os.DirFS(resultsDirectory)))
	before := kit.Must(publishedMachines(directory))
	raw := filepath.Join(directory, machines[0].report, "raw.txt")
	const name = "BenchmarkPeers/op=operator-1-half/peer=recurrence-per-token"
	lines := slices.DeleteFunc(strings.Split(string(kit.ReadGolden(raw)), "\n"), func(line string) bool { return strings.HasPrefix(line, name+" ") })
	lines = append(lines, name+" 1 1234 ns/op", "")
	kit.NoError(t, os.WriteFile(raw, []byte(strings.Join(lines, "\n")), 0o666))
	after := kit.Must(publishedMachines(directory))
	plainGo := slices.IndexFunc(contenders, func(c contender) bool { return c.name == "plain Go" })
	if got := contenders[plainGo].perToken(&after[0], 1, posenc.HalfSplit); got < 1233.9 || got > 1234.1 {
		t.Errorf("%v ns per token, want the 1234 of the file", got)
	}
	if tables := figureTables(after); !strings.Contains(tables, "| 1234 (") || tables == figureTables(before) {
		t.Error("the tables do not have the sample")
	}
	if samePicture(kit.Must(drawChart(before)), kit.Must(drawChart(after))) {
		t.Error("the picture does not have the sample")
	}
}

// Every file in results belongs to one machine.
func TestEveryResultIsPublished(t *testing.T) {
	for _, e := range kit.Must(os.ReadDir(resultsDirectory)) {
		owners := 0
		for _, m := range machines {
			if matched, _ := filepath.Match(m.texts, e.Name()); matched || m.report == e.Name() {
				owners++
			}
		}
		if owners != 1 {
			t.Errorf("%s/%s belongs to %d machines of the list, want 1", resultsDirectory, e.Name(), owners)
		}
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 164.4: "164", 999.6: "1,000", 42858: "42,858", 1234567: "1,234,567"} {
		if got := thousands(v); got != want {
			t.Errorf("thousands(%v) = %q, want %q", v, got, want)
		}
	}
	for ns, want := range map[float64]string{463.1: "463 ns", 9069: "9069 ns", 42081: "42.1 µs", 7.47e6: "7.47 ms"} {
		if got := duration(ns); got != want {
			t.Errorf("duration(%v) = %q, want %q", ns, got, want)
		}
	}
	if _, err := replaceFigures([]byte("no marks"), ""); err == nil {
		t.Error("a document without marks is no error")
	}
}

// Every constant of kernels/tuning.go has a measurement, with other values to try, and
// every measurement is of such a constant. Its calls return no error, and no two have the same
// name.
func TestThresholds(t *testing.T) {
	now := kit.Must(readTuning("../kernels", nil))
	for _, name := range now.names {
		if !slices.ContainsFunc(thresholds, func(x threshold) bool { return x.name == name }) {
			t.Errorf("%s of kernels/tuning.go is not among the thresholds that bench -tune measures", name)
		}
	}
	seen := map[string]bool{}
	for _, x := range thresholds {
		present, found := now.values[x.name]
		if !found || seen[x.name] {
			t.Errorf("threshold %s: expected one constant of kernels/tuning.go", x.name)
			continue
		}
		seen[x.name] = true
		others := x.others(present)
		if len(others) == 0 {
			t.Errorf("%s = %d has no other value to try", x.name, present)
			continue
		}
		source := kit.Must(now.with(x.name, others[0]))
		got := kit.Must(readTuning("../kernels", source))
		if got.values[x.name] != others[0] {
			t.Errorf("%s is %d in the file that sets it to %d, and is %d", x.name, got.values[x.name], others[0], present)
		}
		called := map[string]bool{}
		for _, c := range kit.Must(casesOf(tunedShort, x.name)) {
			if called[c.Name] || c.Bytes <= 0 {
				t.Errorf("%s: %s of %d bytes: expected one of the name, and some", x.name, c.Name, c.Bytes)
			}
			called[c.Name] = true
			if err := c.Run(); err != nil {
				t.Errorf("%s: %s: %v", x.name, c.Name, err)
			}
		}
	}
}

// Values are those of the language, and one is changed at a time.
func TestTuning(t *testing.T) {
	directory := t.TempDir()
	write := func(source string) {
		t.Helper()
		kit.NoError(t, os.WriteFile(filepath.Join(directory, "tuning.go"), []byte("package kernels\n"+source), 0o666))
	}
	write("const (\n\t// A is first.\n\tA = 8 << 20 // of elements\n\tB, c = A / 2, 3\n)\n\nfunc f() int { const local = 1; return local }\n")
	now := kit.Must(readTuning(directory, nil))
	if want := map[string]int64{"A": 8 << 20, "B": 4 << 20, "c": 3}; !maps.Equal(now.values, want) || !slices.Equal(now.names, []string{"A", "B", "c"}) {
		t.Errorf("constants %v, %v, want %v", now.names, now.values, want)
	}
	got, err := now.with("B", 5)
	if want := "package kernels\n\nconst (\n\t// A is first.\n\tA    = 8 << 20 // of elements\n\tB, c = 5, 3\n)\n\nfunc f() int { const local = 1; return local }\n"; err != nil || string(got) != want {
		t.Errorf("with B = 5: %v, %s\nwant %s", err, got, want)
	}
	if _, err := now.with("local", 2); err == nil {
		t.Error("local is no constant of the file, and no error")
	}
	write("const A = 0.5\n")
	if _, err := readTuning(directory, nil); err == nil {
		t.Error("0.5 is no threshold, and no error")
	}
}

// Bounds are measured apart from the calls, whose caches they would use.
func TestBoundsOfSizes(t *testing.T) {
	cases := kit.Must(casesOf(tunedShort, "bounds=256,1024"))
	count := map[int64]int{}
	for _, c := range cases {
		count[c.Bytes]++
	}
	if len(count) != 2 || count[256] == 0 || count[256] != count[1024] {
		t.Errorf("bounds of %v bytes, want as many of 256 and 1024", count)
	}
	for _, wrong := range []string{"", "x", "0", "128", "256,", "256,300"} {
		if _, err := casesOf(tunedShort, boundsOf+wrong); err == nil {
			t.Errorf("bounds=%s, and no error", wrong)
		}
	}
}

func TestChosen(t *testing.T) {
	for _, test := range []struct {
		ratios map[int64][]float64
		value  int64
		mean   float64
	}{
		{nil, 64, 1},
		{map[int64][]float64{32: {0.96, 0.96}}, 64, 1},                                    // too little
		{map[int64][]float64{32: {0.8, 1.06}}, 64, 1},                                     // slower somewhere
		{map[int64][]float64{32: {0.81, 1}}, 32, 0.9},                                     // faster
		{map[int64][]float64{16: {0.81, 1}, 32: {0.64, 1}, 128: {0.5, 1.1}}, 32, 0.8},     // the fastest of those
		{map[int64][]float64{16: {math.NaN(), 1}, 32: {math.NaN(), math.NaN()}}, 64, 1.0}, // nothing known
	} {
		if value, mean := chosen(64, test.ratios); value != test.value || math.Abs(mean-test.mean) > 1e-9 {
			t.Errorf("%v: %d, %v, want %d, %v", test.ratios, value, mean, test.value, test.mean)
		}
	}
}

// One threshold, from the builds to the choice.
func TestTune(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN: it builds bench three times")
	}
	var b strings.Builder
	kit.NoError(t, tune(tunedShort, []string{"shortRun"}, thisMachine("go test"), &b, quiet()))
	now := kit.Must(readTuning("../kernels", nil))
	c := &calls{sizes: tunedShort.workingSets}
	i := slices.IndexFunc(thresholds, func(x threshold) bool { return x.name == "shortRun" })
	thresholds[i].calls(c)
	lines := 0
	for line := range strings.Lines(b.String()) {
		fields := strings.Fields(line)
		if len(fields) == 7 && fields[0] == "shortRun" {
			lines++
			if slices.Contains(fields, "NaN") || slices.Contains(fields, "+Inf") {
				t.Errorf("no figure: %s", line)
			}
		}
	}
	if want := len(c.cases) * (1 + len(thresholds[i].others(now.values["shortRun"]))); lines != want {
		t.Errorf("%d lines of figures, want %d:\n%s", lines, want, &b)
	}
	for _, want := range []string{"cpu: ", "commit: ", "go: ", "command: go test", "\nshortRun = ", "share of a core: "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	if err := tune(tunedShort, []string{"shortrun"}, thisMachine("go test"), &b, quiet()); err == nil || !strings.Contains(err.Error(), `"shortrun"`) {
		t.Errorf("%v, want an error about shortrun", err)
	}
}
