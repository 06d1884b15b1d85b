package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/asm/_gen/operation"
)

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
		"rotate_amd64.go":                    "func RotateInterleavedBF16ToF16AVX512(",
		"rotate_arm64.go":                    "func RotateInterleavedBF16ToF16NEON(",
		"rotate_arm64.s":                     "TEXT ·RotateInterleavedBF16ToF16NEON(SB)",
		"../kernels/bind_amd64.go":           "asm.RotateInterleavedBF16ToF16AVX2(",
		"../kernels/bind_arm64.go":           "asm.RotateInterleavedBF16ToF16NEON(",
		"../kernels/bind_other.go":           "func RotateInterleavedBF16ToF16(impl Implementation, y, x []uint16, cos, sin []float32, r *Rotation) {",
		"../kernels/loops.go":                "generic.RotateInterleavedBF16ToF16(",
		"../internal/operations/registry.go": `"RotateInterleavedBF16ToF16"`,
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
