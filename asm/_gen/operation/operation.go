// Package operation lists the operations that have assembly kernels. The list says
// of each once what it is called, what it takes and what defines it; stubs, bindings,
// the loops over rows of the definitions and the registry of the tests follow from it.
package operation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Operation is one kernel, written once for each instruction set.
type Operation struct {
	Package string // "asm", or "bound" for what only tests and benchmarks use, without a binding
	Family  string // files are <family>_<goarch>.s and .go
	Base    string
	Layout  Layout
	Types   Types // Base, Layout and Types make the name; symbols are <name><instruction set>

	// Parameters are what the binding takes. A stub takes of them the slices first,
	// then the geometry, then the scalars.
	Parameters []Parameter
	Result     *Result // or nil

	// Definition is what functions of package generic make of one row. Plain is the
	// statements that take its place where an operation is no loop over rows, and
	// Runs the function that they call, if any.
	Definition []Call
	Plain      string
	Runs       string

	// Only names the one instruction set that has a body, where one alone has.
	// Substitutes says what those without call: a symbol, or PlainGo.
	Only        string
	Substitutes map[string]string

	Doc     string // of the stub, %s being the symbol
	Summary string // of the binding, without its name

	Unit, Align int // elements that lengths are a multiple of, and bytes that what is written is aligned to, where not 1

	Lengths []int // of rows, where there are no others

	Binding string // its name, where that is not the operation's
	Private bool   // the name of the binding begins with a small letter
	Narrow  string // an expression for the implementation to run, of arguments that not every kernel takes
}

// PlainGo is the substitute of a kernel by its definition.
const PlainGo = "plain Go"

// Layout is where the elements of a pair lie.
type Layout string

// The layouts.
const (
	HalfSplit   Layout = "HalfSplit"   // x[i] and x[i+n]
	Interleaved Layout = "Interleaved" // x[2i] and x[2i+1]
)

// Element is a type of elements in memory.
type Element int

// The types of elements. B32 and B16 are moved, and their meaning does not matter.
const (
	None Element = iota
	F32
	F16
	BF16
	F64
	I32
	B32
	B16
	I8
	E4M3
	E5M2
	U8
	U4 // bytes of two codes
	Q8 // bytes of blocks of Q8_0, and of other formats with blocks
	Q4_0
	Q4_1
	Q5_0
	Q5_1
	IQ4_NL
	MXFP4
	NVFP4
)

// Blocks are ggml's formats with 4 or 5 bits a number.
var Blocks = []Element{Q4_0, Q4_1, Q5_0, Q5_1, IQ4_NL}

// FP4 are blocks of codes of E2M1.
var FP4 = []Element{MXFP4, NVFP4}

var elements = []struct {
	name, goType string
	bytes        int
}{
	None: {"", "", 0}, F32: {"F32", "float32", 4}, F16: {"F16", "uint16", 2}, BF16: {"BF16", "uint16", 2},
	F64: {"F64", "float64", 8}, I32: {"I32", "int32", 4}, B32: {"B32", "uint32", 4}, B16: {"B16", "uint16", 2},
	I8: {"I8", "uint8", 1}, E4M3: {"E4M3", "uint8", 1}, E5M2: {"E5M2", "uint8", 1}, U8: {"U8", "uint8", 1}, U4: {"U4", "uint8", 1}, Q8: {"Q8", "uint8", 1},
	Q4_0: {"Q4_0", "uint8", 1}, Q4_1: {"Q4_1", "uint8", 1}, Q5_0: {"Q5_0", "uint8", 1}, Q5_1: {"Q5_1", "uint8", 1}, IQ4_NL: {"IQ4_NL", "uint8", 1},
	MXFP4: {"MXFP4", "uint8", 1}, NVFP4: {"NVFP4", "uint8", 1},
}

// String returns the element as names of operations have it.
func (e Element) String() string { return elements[e].name }

// Kinds returns its kinds in package kernels: MXFP4 has one for each rule of its scales.
func (e Element) Kinds() string {
	if e == MXFP4 {
		return "KindMXFP4Floor, KindMXFP4RCeil, KindMXFP4Even"
	}
	return "Kind" + e.String()
}

// Go returns its type in Go.
func (e Element) Go() string { return elements[e].goType }

// first slices what n numbers take.
func (e Element) first(n string) string {
	if e >= Q8 {
		numbers := "Block"
		if e == NVFP4 {
			numbers = e.String() + "Numbers"
		}
		n += "/generic." + numbers + "*generic." + e.String() + "Bytes"
	}
	return ":" + n
}

// Numbers returns how many numbers a block has, or 1.
func (e Element) Numbers() int {
	switch {
	case e == NVFP4:
		return 16
	case e >= Q8:
		return 32
	}
	return 1
}

// Bytes returns its size.
func (e Element) Bytes() int { return elements[e].bytes }

// Types are the elements that an operation writes, and those that it reads.
type Types struct{ To, From Element }

// of is elements that are read and written.
func of(e Element) Types { return Types{e, e} }

// String returns the types as names end in them.
func (t Types) String() string {
	if t.To == t.From {
		return t.To.String()
	}
	return t.From.String() + "To" + t.To.String()
}

// Kind is what a parameter is.
type Kind int

// The kinds of parameters, in the order in which stubs take them.
const (
	Slice  Kind = iota // elements in memory
	Place              // where rows lie: see Geometry
	Scalar             // a number
)

// Parameter is one of a binding.
type Parameter struct {
	Kind
	Name      string
	Type      string     // in Go
	Element   Element    // of a slice
	Written   bool       // a slice that the operation writes
	OfKind    string     // its value in terms of the kind of a format, which has it then
	Arguments []Argument // what stubs take of it
	Geometry  *Geometry  // of a Place
}

// Argument is what a stub takes, and its value in terms of the binding's parameters.
type Argument struct{ Name, Type, Value string }

// Geometry says where rows lie.
type Geometry struct {
	Struct    string            // of package kernels, or ""
	Loops     []string          // over the rows, the outermost first
	Set       string            // statements before the definition of a row
	Between   string            // memory for what one call of the definition gives to the next
	Rows      map[string]string // what of a slice a row takes, and no more: the race detector is told so
	Row       string            // what it takes of slices that are not there, if not all
	Counts    []string          // arguments whose product, times Factor, is the elements of a call
	Factor    int
	Parameter []Parameter // the binding's, where they are not one struct
}

// Call is a call of a function of package generic for one row. Arguments are names of
// parameters: the geometry's Rows say what of them the row is. Of a generic function
// of Go the name has no types, and else those of the operation, if no others are given.
type Call struct {
	Function  string
	Types     Types
	Arguments []string
	To        string // what takes the result, or ""
}

// Result is what a stub returns and what a binding makes of it.
type Result struct {
	Name, Type string // of the stub
	Binding    string // type in the binding
	Value      string // format of the stub's call
	Zero       string
}

// Name returns the name of the operation.
func (o *Operation) Name() string { return o.Emitter() + o.Types.String() }

// Emitter returns the name by which back ends know what writes its body.
func (o *Operation) Emitter() string { return o.Base + string(o.Layout) }

// BindingName returns the name of the function of package kernels.
func (o *Operation) BindingName() string {
	name := o.Name()
	if o.Binding != "" {
		name = o.Binding
	}
	if o.Private {
		return small(name)
	}
	return name
}

// small begins a name with small letters: RMSNorm becomes rmsNorm.
func small(name string) string {
	n := 1
	for n+1 < len(name) && 'A' <= name[n] && name[n] <= 'Z' && 'A' <= name[n+1] && name[n+1] <= 'Z' {
		n++
	}
	return strings.ToLower(name[:n]) + name[n:]
}

// Geometry returns where the rows lie.
func (o *Operation) Geometry() *Geometry {
	for _, p := range o.Parameters {
		if p.Geometry != nil {
			return p.Geometry
		}
	}
	return nil
}

// Arguments returns what the stubs take.
func (o *Operation) Arguments() (list []Argument) {
	for kind := Slice; kind <= Scalar; kind++ {
		for _, p := range o.Parameters {
			if p.Kind == kind {
				list = append(list, p.Arguments...)
			}
		}
	}
	return list
}

// Signature returns the parameters and the result of the stubs.
func (o *Operation) Signature() string {
	var names, types []string
	for _, a := range o.Arguments() {
		names, types = append(names, a.Name), append(types, a.Type)
	}
	signature := "(" + Fields(names, types) + ")"
	if o.Result != nil {
		signature += " (" + o.Result.Name + " " + o.Result.Type + ")"
	}
	return signature
}

// Fields joins names and types as parameters, and names of one type together.
func Fields(names, types []string) string {
	var b strings.Builder
	for i, name := range names {
		b.WriteString(name)
		if i+1 == len(names) || types[i+1] != types[i] {
			b.WriteString(" " + types[i])
		}
		if i+1 < len(names) {
			b.WriteString(", ")
		}
	}
	return b.String()
}

// InstructionSets names the instruction sets of a GOARCH as they end symbols.
var InstructionSets = map[string][]string{
	"amd64": {"AVX2", "AVX512"},
	"arm64": {"NEON"},
}

// On returns those operations that a GOARCH has.
func On(goarch string, operations []Operation) []Operation {
	return slices.DeleteFunc(slices.Clone(operations), func(o Operation) bool {
		return !slices.ContainsFunc(InstructionSets[goarch], o.Has)
	})
}

// Bodies calls write for every body that operations have on a GOARCH, with its name and
// what writes it, the package kernels.
func Bodies[K any](goarch string, operations []Operation, kernels map[string]K, write func(o *Operation, instructionSet, name string, kernel K) error) error {
	for _, o := range operations {
		kernel, ok := kernels[o.Emitter()]
		if !ok {
			return fmt.Errorf("%s: nothing writes %s, of %s", goarch, o.Emitter(), o.Name())
		}
		for _, set := range InstructionSets[goarch] {
			if !o.Has(set) {
				continue
			}
			if err := write(&o, set, o.Name()+set, kernel); err != nil {
				return fmt.Errorf("%s: %s: %w", goarch, o.Name(), err)
			}
		}
	}
	return nil
}

// Has reports whether the operation has a body for an instruction set.
func (o *Operation) Has(instructionSet string) bool {
	_, substituted := o.Substitutes[instructionSet]
	return !substituted && (o.Only == "" || o.Only == instructionSet)
}

// Symbol returns what the binding calls for an instruction set, or PlainGo.
func (o *Operation) Symbol(instructionSet string) string {
	if o.Has(instructionSet) {
		return o.Name() + instructionSet
	}
	return o.Substitutes[instructionSet]
}

// Check returns what is wrong with a list.
func Check(operations []Operation) error {
	names := map[string]bool{}
	for _, o := range operations {
		if names[o.Name()] {
			return fmt.Errorf("%s is there twice", o.Name())
		}
		names[o.Name()] = true
		if o.Doc == "" {
			return fmt.Errorf("%s has no documentation", o.Name())
		}
		if o.Package != "asm" {
			continue
		}
		for _, set := range slices.Concat(slices.Collect(maps.Values(InstructionSets))...) {
			if o.Symbol(set) == "" {
				return fmt.Errorf("%s has neither a body nor a substitute for %s", o.Name(), set)
			}
		}
		if o.Summary == "" {
			return fmt.Errorf("the binding of %s has no documentation", o.Name())
		}
		if len(o.Definition) == 0 && o.Plain == "" {
			return fmt.Errorf("%s has no definition", o.Name())
		}
		if g := o.Geometry(); len(o.Arguments()) > 0 && (g == nil || len(g.Counts) == 0) {
			return fmt.Errorf("%s does not say what its elements are", o.Name())
		}
	}
	return nil
}
