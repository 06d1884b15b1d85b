package arm64

import (
	"fmt"

	"github.com/go-posenc/posenc/asm/_gen/operation"
)

// frame says where the arguments and results of a function lie.
type frame struct {
	offsets map[string]int
	sizes   map[string]int
	size    int
}

// newFrame lays out the arguments and the result of a stub as Go's stack calling
// convention does.
func newFrame(o *operation.Operation) *frame {
	f := &frame{offsets: map[string]int{}, sizes: map[string]int{}}
	for _, a := range o.Arguments() {
		f.place(a.Name, a.Type)
	}
	if o.Result != nil {
		f.align(8)
		f.place(o.Result.Name, o.Result.Type)
	}
	return f
}

func (f *frame) align(n int) { f.size = (f.size + n - 1) &^ (n - 1) }

func (f *frame) place(name, goType string) {
	size := map[string]int{"int": 8, "uint64": 8, "float64": 8, "float32": 4}[goType]
	if goType[0] == '*' {
		size = 8
	}
	if size == 0 {
		panic("a parameter of type " + goType)
	}
	f.align(size)
	f.offsets[name], f.sizes[name] = f.size, size
	f.size += size
}

// address returns how assembly names an argument or a result.
func (f *frame) address(name string) string {
	offset, ok := f.offsets[name]
	if !ok {
		panic("no argument or result " + name)
	}
	return fmt.Sprintf("%s+%d(FP)", name, offset)
}
