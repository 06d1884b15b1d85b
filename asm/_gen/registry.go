package main

import (
	"bytes"
	"fmt"
	"go/format"
	"slices"
	"strings"

	"github.com/go-posenc/posenc/asm/_gen/operation"
)

// exports returns the file by which tests reach bindings that package kernels keeps to
// itself.
func exports(operations []operation.Operation) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%spackage kernels\n\n// Bindings that only this package calls.\nvar (\n", header)
	for _, o := range bound(operations) {
		if o.Private {
			fmt.Fprintf(&b, "%s = %s\n", o.Name(), o.BindingName())
		}
	}
	b.WriteString(")\n")
	return format.Source(b.Bytes())
}

// registry returns the file of package operations that lists all operations but the private ones.
func registry(all []operation.Operation) ([]byte, error) {
	return listed(all, false, `package operations

import (
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/kernels"
)

// Registry lists all operations that other packages call.
var Registry = []*Operation{
`)
}

// privateRegistry returns the file of the tests of package kernels that lists the private ones.
func privateRegistry(all []operation.Operation) ([]byte, error) {
	return listed(all, true, `package kernels_test

import (
	. "github.com/go-posenc/posenc/internal/test/operations"
	"github.com/go-posenc/posenc/kernels"
)

// private lists the operations that package kernels alone calls.
var private = []*Operation{
`)
}

func listed(all []operation.Operation, private bool, begin string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(header + begin)
	for _, o := range bound(all) {
		if o.Private == private {
			register(&b, &o)
		}
	}
	b.WriteString("}\n")
	return format.Source(b.Bytes())
}

func register(b *bytes.Buffer, o *operation.Operation) {
	field := func(has bool, format string, arguments ...any) {
		if has {
			fmt.Fprintf(b, format+",\n", arguments...)
		}
	}
	fmt.Fprintf(b, "{\nName: %q,\n", o.Name())
	if g := o.Geometry(); g != nil {
		unit := max(o.Unit, 1) * g.Factor
		field(true, "Geometry: %q", g.Struct)
		field(len(g.Parameter) > 0, "Seeded: true")
		field(g.Struct == "" && unit > 1, "Unit: %d", unit)
	}
	field(o.Lengths != nil, "Lengths: %#v", o.Lengths)
	field(o.Align > 1, "Align: %d", o.Align)
	field(o.Result != nil, "Partial: true")
	field(o.Layout != "", "Layout: %q", o.Layout)
	b.WriteString("Slices: []Slice{")
	for _, p := range o.Parameters {
		if p.Kind == operation.Slice {
			fmt.Fprintf(b, "{Name: %q, Element: %s", p.Name, element(o, p).String())
			if p.Written {
				b.WriteString(", Written: true")
			}
			if single(o, p.Name) {
				b.WriteString(", Single: true")
			}
			b.WriteString("},")
		}
	}
	b.WriteString("},\nNumbers: []string{")
	for _, p := range o.Parameters {
		if p.Kind == operation.Scalar && p.Name != "" {
			fmt.Fprintf(b, "%q, ", p.Name)
		}
	}
	b.WriteString("},\nRuns: map[kernels.Implementation]string{\n")
	for _, goarch := range []string{"amd64", "arm64"} {
		for _, set := range operation.InstructionSets[goarch] {
			runs := "asm." + o.Symbol(set)
			if o.Symbol(set) == operation.PlainGo {
				runs = plainRuns(o)
			}
			fmt.Fprintf(b, "kernels.%s: %q,\n", set, runs)
		}
	}
	fmt.Fprintf(b, "kernels.Generic: %q,\n},\n", plainRuns(o))
	var arguments []string
	for _, p := range parameters(o) {
		arguments = append(arguments, argument(p))
	}
	name := o.BindingName()
	if o.Private {
		name = o.Name()
	}
	fmt.Fprintf(b, "Call: func(impl kernels.Implementation, a *Arguments) { kernels.%s(%s) },\n", name, strings.Join(append([]string{"impl"}, arguments...), ", "))
	field(len(o.Definition) > 0, "Define: func(a *Arguments) {\n%s\n}", rowDefinition(o))
	b.WriteString("},\n")
}

// element is what tests fill a slice with: what is only moved has any bits.
func element(o *operation.Operation, p operation.Parameter) operation.Element {
	if e := o.Types.To; e == operation.B32 && p.Element == operation.F32 {
		return e
	}
	return p.Element
}

func title(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// plainRuns is the function that takes the first slice where an operation runs without a kernel, or "".
func plainRuns(o *operation.Operation) string {
	for _, c := range o.Definition {
		if first := o.Parameters[0].Name; c.To == first || slices.Contains(c.Arguments, first) {
			return defined(o, c)
		}
	}
	return o.Runs
}

// argument is how a test gives a parameter to a binding.
func argument(p operation.Parameter) string {
	switch {
	case strings.HasPrefix(p.Type, "*["):
		if p.Kind == operation.Slice && p.Arguments != nil {
			return fmt.Sprintf("(*[kernels.Width]float64)(Elements[float64](a, %q))", p.Name)
		}
		return "a." + title(p.Name)
	case strings.HasPrefix(p.Type, "[]["):
		return "a." + title(p.Name)
	case strings.HasPrefix(p.Type, "[]"):
		return fmt.Sprintf("Elements[%s](a, %q)", p.Type[2:], p.Name)
	case strings.HasPrefix(p.Type, "*"):
		return "&a." + p.Type[1:]
	}
	return fmt.Sprintf("%s(a.Number[%q])", p.Type, p.Name)
}

// single reports whether a row has one element of a slice.
func single(o *operation.Operation, name string) bool {
	g := o.Geometry()
	return g != nil && g.Rows[name] != "" && !strings.Contains(g.Rows[name], ":") && strings.Contains(g.Rows[name], "[")
}

// rowDefinition is the definition of one row in terms of a test's arguments for it.
// Where a row is two slices, the second has the name of the first and a 2.
func rowDefinition(o *operation.Operation) string {
	row := func(name string) (list []string) {
		i := slices.IndexFunc(o.Parameters, func(p operation.Parameter) bool { return p.Name == name })
		p := operation.Parameter{Kind: operation.Slice, Name: name, Type: "[]float32"} // a slice of a row, or of what it is made of
		if i >= 0 {
			p = o.Parameters[i]
		}
		expression := argument(p)
		if single(o, name) {
			return []string{expression + "[0]"}
		}
		list = append(list, expression)
		if g := o.Geometry(); strings.Contains(g.Rows[name], ", ") {
			p.Name += "2"
			list = append(list, argument(p))
		}
		return list
	}
	var calls []string
	for _, c := range o.Definition {
		var list []string
		for _, name := range c.Arguments {
			list = append(list, row(name)...)
		}
		call := fmt.Sprintf("%s(%s)", defined(o, c), strings.Join(list, ", "))
		if c.To != "" {
			call = row(c.To)[0] + " = " + call
		}
		calls = append(calls, call)
	}
	return strings.Join(calls, "\n")
}

// callElements returns the file that says for tests how many elements a call works on.
func callElements(operations []operation.Operation) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, `%spackage kit

// callElements says of every function of package asm, without its instruction set, which
// arguments count elements: their product, times a factor.
var callElements = map[string]struct {
	times     int
	arguments []int
}{
`, header)
	for _, o := range bound(operations) {
		g := o.Geometry()
		if g == nil {
			continue // it works on none
		}
		var indexes []string
		for _, name := range g.Counts {
			i := slices.IndexFunc(o.Arguments(), func(a operation.Argument) bool { return a.Name == name })
			if i < 0 {
				return nil, fmt.Errorf("%s counts %s, which it does not take", o.Name(), name)
			}
			indexes = append(indexes, fmt.Sprint(i))
		}
		fmt.Fprintf(&b, "%q: {%d, []int{%s}},\n", o.Name(), g.Factor, strings.Join(indexes, ", "))
	}
	b.WriteString("}\n")
	return format.Source(b.Bytes())
}
