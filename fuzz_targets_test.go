package posenc_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fuzzTargets says, for each directory of a package, which fuzz target compares
// what a function does with its definition. (FuzzArguments calls all functions of
// posenc as well.) frequency and modelconfig have tests of their own that none is
// missing. Packages generic, kernels and asm check no
// arguments, as their documentation says; they run below these.
var fuzzTargets = map[string]map[string]string{
	".": {
		"ALiBiSlopes": "FuzzArguments", "AddALiBi": "FuzzScores", "AddDeBERTa": "FuzzScores", "AddEmbeddings": "FuzzAddEmbeddings",
		"AddRelativeShift": "FuzzScores", "AddRelativeValues": "FuzzProducts", "AddShaw": "FuzzScores", "AddSinusoidal": "FuzzSinusoidal", "AddSwin": "FuzzScores", "AddT5": "FuzzScores",
		"BFloat16s": "FuzzArguments", "CosSin": "FuzzCosSin", "CosSinAngles": "FuzzSinCosFloat32", "DETRPositions": "FuzzPositions",
		"DescendingPositions": "FuzzPositions", "Float16s": "FuzzArguments", "Implementation": "FuzzArguments", "InterpolateGrid": "FuzzInterpolate",
		"InterpolateTable": "FuzzInterpolate", "NewDeBERTaBuckets": "FuzzScores", "NewRMSNorm": "FuzzNormalize", "NewRotary": "FuzzRotate",
		"NewSinusoidal": "FuzzSinusoidal", "NewSwinBias": "FuzzArguments", "NewT5Bias": "FuzzArguments", "NewT5Buckets": "FuzzScores", "NewTableRotary": "FuzzTable", "Normalize": "FuzzNormalize",
		"PaddedPositions": "FuzzPositions", "PermuteWeights": "FuzzPermuteWeights", "QueryScales": "FuzzPositions", "RaggedPositions": "FuzzPositions", "RelativeProducts": "FuzzProducts",
		"Rotate": "FuzzRotate", "RotateFused": "FuzzRotateFused", "RotateInto": "FuzzRotateInto", "RotateInverse": "FuzzRotateElements",
		"Scale": "FuzzNormalize", "Shift": "FuzzShift", "SinusoidalDETR": "FuzzSinusoidalModels", "SinusoidalFairseq": "FuzzSinusoidalModels",
		"SinusoidalMAE": "FuzzSinusoidalModels", "SinusoidalMLX": "FuzzSinusoidalModels", "SinusoidalMarian": "FuzzSinusoidalModels", "SinusoidalMusicGen": "FuzzSinusoidalModels",
		"SinusoidalRows": "FuzzSinusoidalKernels", "SinusoidalRows64": "FuzzSinusoidalRows64", "SinusoidalTensor2Tensor": "FuzzSinusoidalModels",
		"SinusoidalTimesteps": "FuzzSinusoidalModels", "SinusoidalVaswani": "FuzzSinusoidalModels", "SinusoidalWhisper": "FuzzSinusoidalModels", "SumShaw": "FuzzScores",
		"SwinCoordinates": "FuzzPositions", "XLNetPositions": "FuzzPositions",

		"DeBERTaBuckets.Position": "FuzzScores", "DualChunk.KeyPositions": "FuzzPositions", "DualChunk.QueryPositions": "FuzzPositions",
		"Rotary.CosSin": "FuzzAxes", "Rotary.CosSinFractional": "FuzzRotaryTables", "Rotary.Extend": "FuzzTable", "Rotary.Tabulate": "FuzzSplit",
		"Sinusoidal.Shift": "FuzzSinusoidalShift", "Sinusoidal.ShiftMatrix": "FuzzSinusoidalShift", "T5Buckets.Bucket": "FuzzArguments",
	},
}

// Every function and method that the packages export has a fuzz target, in a file
// that names it, and every target is of a function.
func TestFuzzTargets(t *testing.T) {
	for directory, targets := range fuzzTargets {
		set := token.NewFileSet()
		sources, tests := parseFiles(t, set, directory, false), parseFiles(t, set, directory, true)
		if len(sources) == 0 {
			t.Skip("NOT TESTED: there is no source here, only the test binary")
		}
		exported := exportedFunctions(t, set, sources)
		sameNames(t, directory+", the list of targets", slices.Collect(maps.Keys(targets)), exported)
		if directory == "." {
			sameNames(t, "FuzzArguments", slices.Collect(maps.Keys(argumentCalls)), exported)
		}
		files := map[string]map[string]bool{} // the names in the file of each target
		for _, file := range tests {
			names := map[string]bool{}
			ast.Inspect(file, func(n ast.Node) bool {
				if name, ok := n.(*ast.Ident); ok {
					names[name.Name] = true
				}
				return true
			})
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Fuzz") {
					files[f.Name.Name] = names
				}
			}
		}
		for function, target := range targets {
			name := function[strings.IndexByte(function, '.')+1:]
			if names := files[target]; !names[name] {
				t.Errorf("%s: %s has no target %s, or one in a file that does not name it", directory, function, target)
			}
		}
		for target := range files {
			if !slices.Contains(slices.Collect(maps.Values(targets)), target) {
				t.Errorf("%s: %s is the target of no function", directory, target)
			}
		}
	}
}

// sameNames says which functions are missing in a list, and which are not there.
func sameNames(t *testing.T, list string, names, functions []string) {
	t.Helper()
	for _, name := range functions {
		if !slices.Contains(names, name) {
			t.Errorf("%s: %s is missing", list, name)
		}
	}
	for _, name := range names {
		if !slices.Contains(functions, name) {
			t.Errorf("%s: there is no %s", list, name)
		}
	}
}

// parseFiles parses the tests of a directory, or what is tested.
func parseFiles(t *testing.T, set *token.FileSet, directory string, tests bool) (files []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(directory, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") == tests {
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
	}
	return files
}

// exportedFunctions returns the functions and the methods (Type.Method) of a
// package, sorted.
func exportedFunctions(t *testing.T, set *token.FileSet, files []*ast.File) (names []string) {
	t.Helper()
	p, err := doc.NewFromFiles(set, files, "posenc")
	if err != nil {
		t.Fatal(err)
	}
	functions := p.Funcs
	for _, of := range p.Types {
		functions = append(functions, of.Funcs...)
		for _, method := range of.Methods {
			names = append(names, of.Name+"."+method.Name)
		}
	}
	for _, f := range functions {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return names
}
