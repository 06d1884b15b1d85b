package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-posenc/posenc/asm/_gen/operation"
	"golang.org/x/arch/arm64/arm64asm"
)

func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}

var generated = sync.OnceValue(func() map[string][]byte { return must(generate(operation.Operations)) })

// The files in the repository are those that the generator writes.
func TestFilesAreUpToDate(t *testing.T) {
	first, second := generated(), must(generate(operation.Operations))
	if !maps.EqualFunc(first, second, bytes.Equal) {
		t.Error("two runs differ")
	}
	for name, content := range first {
		onDisk, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(onDisk, content) {
			t.Errorf("%s is not what the generator writes: go run -C asm/_gen . -dir ..", name)
		}
	}
	// Nor does a file that it once wrote stay behind.
	for _, pattern := range []string{"../*.s", "../*.go", "../../internal/test/bound/*.s", "../../internal/test/bound/*.go", "../../kernels/*.go", "../../generic/*.go", "../../internal/test/kit/*.go"} {
		names := must(filepath.Glob(pattern))
		for _, name := range names {
			content := must(os.ReadFile(name))
			name = must(filepath.Rel("..", name))
			if _, ok := first[name]; !ok && (bytes.HasPrefix(content, []byte(header)) || filepath.Ext(name) == ".s") {
				t.Errorf("%s is not among what the generator writes", name)
			}
		}
	}
}

// eachFunction calls f with every function of the files of an architecture: its name, its first
// line and its code without comments.
func eachFunction(t *testing.T, goarch string, f func(symbol, head, code string)) {
	t.Helper()
	functions := 0
	for name, content := range generated() {
		if !strings.HasSuffix(name, "_"+goarch+".s") {
			continue
		}
		for _, function := range strings.Split(string(content), "\nTEXT ·")[1:] {
			functions++
			head, code, _ := strings.Cut(function, "\n")
			symbol, _, _ := strings.Cut(head, "(")
			f(strings.TrimSuffix(name, ".s")+": "+symbol, head, comments.ReplaceAllString(code, ""))
		}
	}
	if functions == 0 {
		t.Errorf("no functions of %s", goarch)
	}
}

var (
	comments = regexp.MustCompile(`//.*`)
	wordLine = regexp.MustCompile(`(?m)^\s*WORD +\$0x([0-9a-f]{8}) // (.+)$`)
)

// The comment of a WORD of the arm64 files is what the word means: golang.org/x/arch decodes it.
func TestWordsDecode(t *testing.T) {
	words := 0
	for name, content := range generated() {
		if !strings.HasSuffix(name, "_arm64.s") {
			continue
		}
		list := wordLine.FindAllStringSubmatch(string(content), -1)
		words += len(list)
		if n := strings.Count(string(content), "WORD"); n != len(list) {
			t.Errorf("%s: %d of %d WORDs have their Arm syntax", name, len(list), n)
		}
		for _, in := range list {
			encoding := must(strconv.ParseUint(in[1], 16, 32))
			decoded, err := arm64asm.Decode(binary.LittleEndian.AppendUint32(nil, uint32(encoding)))
			if got := arm64asm.GNUSyntax(decoded); err != nil || normal(got) != normal(in[2]) {
				t.Errorf("%s: %s means %q, its comment is %q, %v", name, in[1], got, in[2], err)
			}
		}
	}
	if words == 0 {
		t.Error("no WORD in the arm64 files")
	}
}

// normal drops what is only style: case and spaces.
func normal(syntax string) string {
	return strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(syntax, ",", ", ")), " "))
}

// Every amd64 function that touches the upper halves of registers clears them
// before it returns: VZEROUPPER comes before every RET, and no label between the
// two lets a jump pass it.
func TestUpperHalvesAreCleared(t *testing.T) {
	wide := regexp.MustCompile(`\b[YZ]([0-9]|[12][0-9]|3[01])\b`)
	label := regexp.MustCompile(`^\w+:`)
	eachFunction(t, "amd64", func(symbol, _, code string) {
		if !wide.MatchString(code) || strings.Contains(symbol, "UseUpperHalves") { // for tests
			return
		}
		cleared, returns := false, 0
		for line := range strings.Lines(code) {
			instruction := strings.TrimSpace(line)
			switch {
			case strings.HasPrefix(instruction, "VZEROUPPER"):
				cleared = true
			case label.MatchString(instruction) || wide.MatchString(instruction):
				cleared = false
			case instruction == "RET":
				returns++
				if !cleared {
					t.Errorf("%s returns without VZEROUPPER", symbol)
				}
			}
		}
		if returns == 0 {
			t.Errorf("%s has no RET", symbol)
		}
	})
}

// No function changes a register that Go keeps for itself. On amd64 the assembler saves
// BP where a function has a frame, and wrappers of Go restore the others. An assembler takes
// some registers for AVX2 instructions too, which then are ones of AVX-512.
func TestReservedRegisters(t *testing.T) {
	beyondAVX2 := regexp.MustCompile(`\b[XYZ](1[6-9]|2[0-9]|3[01])\b`)
	for goarch, reserved := range map[string]*regexp.Regexp{"amd64": regexp.MustCompile(`\bBP\b`), "arm64": regexp.MustCompile(`\b(R18(_PLATFORM)?|R2[6-9]|R30|g)\b`)} {
		eachFunction(t, goarch, func(symbol, head, code string) {
			if found := beyondAVX2.FindString(code); found != "" && strings.Contains(symbol, "AVX2") {
				t.Errorf("%s uses %s, which only AVX-512 has", symbol, found)
			}
			if found := reserved.FindString(code); found != "" && (goarch == "arm64" || strings.Contains(head, "$0-")) {
				t.Errorf("%s uses %s", symbol, found)
			}
		})
	}
}

// Non-temporal stores are fenced once for a public call, by FenceStores, and not by each
// kernel; the bounds are calls by themselves. The tests of public calls know the kernels
// that have such stores by their names.
func TestNonTemporalStoresAreFenced(t *testing.T) {
	ending := regexp.MustCompile(`\tSFENCE\n(\tVZEROUPPER\n)?(\tMOVQ .*\n)?\tRET\n`)
	found := 0
	eachFunction(t, "amd64", func(symbol, _, code string) {
		fence := strings.Contains(symbol, "FenceStores")
		if !fence && !strings.Contains(code, "VMOVNT") {
			return
		}
		found++
		if !fence && !strings.Contains(symbol, "NonTemporal") {
			t.Errorf("%s has non-temporal stores, and not NonTemporal in its name", symbol)
		}
		if fenced, want := ending.MatchString(code), fence || strings.Contains(symbol, "bound"); fenced != want {
			t.Errorf("%s ends with a fence: %t, want %t", symbol, fenced, want)
		}
	})
	if found < 5 {
		t.Errorf("%d kernels with non-temporal stores or fences", found)
	}
}

// No argument of a binding escapes, so that a caller's arrays stay on its stack.
func TestNothingEscapes(t *testing.T) {
	for goarch := range assemblers {
		command := exec.Command("go", "build", "-gcflags=-m", "./kernels")
		command.Dir, command.Env = "../..", append(os.Environ(), "GOARCH="+goarch)
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		stays := 0
		for line := range strings.Lines(string(output)) {
			if !strings.HasPrefix(line, "kernels/bind_"+goarch+".go") && !strings.HasPrefix(line, "kernels/loops.go") {
				continue
			}
			if strings.Contains(line, "does not escape") {
				stays++
			} else if regexp.MustCompile(`escapes|moved to heap|leaking`).MatchString(line) {
				t.Error(line)
			}
		}
		if stays < 100 {
			t.Errorf("%s: the compiler says of %d arguments that they do not escape", goarch, stays)
		}
	}
}

// further is an operation of a known family for the test of what CONTRIBUTING says of
// one: it reads bfloat16 and writes float16, of which there is none so far.
func further(base string) operation.Operation {
	o := operation.Operations[slices.IndexFunc(operation.Operations, func(o operation.Operation) bool { return o.Name() == "RotateInterleavedF32" })]
	o.Base = base
	o.Types = operation.Types{To: operation.F16, From: operation.BF16}
	o.Parameters = slices.Clone(o.Parameters)
	for name, element := range map[string]operation.Element{"y": o.Types.To, "x": o.Types.From} {
		p := &o.Parameters[slices.IndexFunc(o.Parameters, func(p operation.Parameter) bool { return p.Name == name })]
		p.Element, p.Type, p.Arguments = element, "[]uint16", []operation.Argument{{Name: name, Type: "*uint16", Value: "unsafe.SliceData(" + name + ")"}}
	}
	return o
}

// An operation that nothing writes is an error on both architectures.
func TestMissingEmitter(t *testing.T) {
	for goarch, assemble := range assemblers {
		o := further("Fictional")
		if _, _, err := assemble(o.Package, o.Family, []operation.Operation{o}); err == nil || !strings.Contains(err.Error(), goarch+": nothing writes FictionalInterleaved") {
			t.Errorf("%s: %v", goarch, err)
		}
		// Those that are there are written.
		o = further("Rotate")
		if _, _, err := assemble(o.Package, o.Family, []operation.Operation{o}); err != nil {
			t.Errorf("%s: %v", goarch, err)
		}
	}
	if _, err := generate(append(slices.Clone(operation.Operations), further("Fictional"))); err == nil {
		t.Error("no error")
	}
}

// What a list lacks is an error.
func TestCheck(t *testing.T) {
	for want, change := range map[string]func(o *operation.Operation){
		"is there twice":       func(o *operation.Operation) { o.Types = operation.Types{To: operation.F32, From: operation.F32} },
		"no documentation":     func(o *operation.Operation) { o.Doc = "" },
		"has no documentation": func(o *operation.Operation) { o.Summary = "" },
		"no definition":        func(o *operation.Operation) { o.Definition = nil },
		"substitute for AVX512": func(o *operation.Operation) {
			o.Only, o.Substitutes = "AVX2", map[string]string{"NEON": operation.PlainGo}
		},
		"what its elements are": func(o *operation.Operation) {
			o.Parameters = slices.DeleteFunc(o.Parameters, func(p operation.Parameter) bool { return p.Kind == operation.Place })
		},
	} {
		o := further("Rotate")
		change(&o)
		if err := operation.Check(append(slices.Clone(operation.Operations), o)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A further kernel is the list, its emitters and its definition: with them its bindings
// and its tests are there and pass, without a change to any other file.
func TestFurtherKernel(t *testing.T) {
	o := further("Rotate")
	files := must(generate(append(slices.Clone(operation.Operations), o)))
	for name, want := range map[string]string{
		"rotate_amd64.go":                         "func RotateInterleavedBF16ToF16AVX512(",
		"rotate_arm64.go":                         "func RotateInterleavedBF16ToF16NEON(",
		"rotate_arm64.s":                          "TEXT ·RotateInterleavedBF16ToF16NEON(SB)",
		"../kernels/bind_amd64.go":                "asm.RotateInterleavedBF16ToF16AVX2(",
		"../kernels/bind_arm64.go":                "asm.RotateInterleavedBF16ToF16NEON(",
		"../kernels/bind_other.go":                "func RotateInterleavedBF16ToF16(impl Implementation, y, x []uint16, cos, sin []float32, r *Rotation) {",
		"../kernels/loops.go":                     "generic.RotateInterleavedBF16ToF16(",
		"../internal/test/operations/registry.go": `"RotateInterleavedBF16ToF16"`,
	} {
		if !strings.Contains(string(files[name]), want) {
			t.Errorf("%s lacks %s", name, want)
		}
	}
	if testing.Short() {
		t.Skip("NOT TESTED: builds the tests of package kernels with it")
	}
	files["../generic/further.go"] = []byte(`package generic

func RotateInterleavedBF16ToF16(y, x []uint16, cos, sin []float32) {
	for i := range len(x) / 2 {
		a, b := rotate(BFloat16ToFloat32(x[2*i]), BFloat16ToFloat32(x[2*i+1]), cos[i], sin[i])
		y[2*i], y[2*i+1] = Float32ToFloat16(a), Float32ToFloat16(b)
	}
}
`)
	folder := t.TempDir()
	replace := map[string]string{}
	for name, content := range files {
		path := must(filepath.Abs(filepath.Join("..", name)))
		replace[path] = filepath.Join(folder, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(replace[path], content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay := must(json.Marshal(map[string]any{"Replace": replace}))
	list := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("go", "test", "-overlay", list, "-short", "-v", "-run", "^Test(Operations|Guards|KernelsAreHit)$/^(impl=.*|operation=RotateInterleavedBF16ToF16)$/^operation=RotateInterleavedBF16ToF16$", "./kernels")
	command.Dir = filepath.Join("..", "..")
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, test := range []string{"TestOperations", "TestGuards", "TestKernelsAreHit/impl=generic"} {
		if !strings.Contains(string(output), "--- PASS: "+test+"/operation=RotateInterleavedBF16ToF16") {
			t.Errorf("%s did not run", test)
		}
	}
}
