package arm64

import (
	"fmt"
	"go/ast"
	"go/parser"
)

// frame says where the arguments and results of a function lie.
type frame struct {
	offsets map[string]int
	sizes   map[string]int
	size    int
}

// parseFrame lays out a signature as Go's stack calling convention does.
func parseFrame(signature string) (*frame, error) {
	expression, err := parser.ParseExpr("func" + signature)
	if err != nil {
		return nil, err
	}
	f := &frame{offsets: map[string]int{}, sizes: map[string]int{}}
	align := func(n int) { f.size = (f.size + n - 1) &^ (n - 1) }
	function := expression.(*ast.FuncType)
	for _, list := range []*ast.FieldList{function.Params, function.Results} {
		if list == nil {
			continue
		}
		align(8)
		for _, field := range list.List {
			size := 8
			switch t := field.Type.(type) {
			case *ast.StarExpr:
			case *ast.Ident:
				switch t.Name {
				case "int", "uint64", "float64":
				case "float32":
					size = 4
				default:
					return nil, fmt.Errorf("a parameter of type %s", t.Name)
				}
			default:
				return nil, fmt.Errorf("a parameter of type %T", t)
			}
			for _, name := range field.Names {
				align(size)
				f.offsets[name.Name], f.sizes[name.Name] = f.size, size
				f.size += size
			}
		}
	}
	return f, nil
}

// address returns how assembly names an argument or a result.
func (f *frame) address(name string) string {
	offset, ok := f.offsets[name]
	if !ok {
		panic("no argument or result " + name)
	}
	return fmt.Sprintf("%s+%d(FP)", name, offset)
}
