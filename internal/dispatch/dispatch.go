// Package dispatch chooses the kernels that every operation runs on.
package dispatch

import (
	"os"
	"slices"

	"github.com/go-posenc/posenc/kernels"
)

// Compiled lists the implementations of this build, whatever the CPU has, from the fastest
// to the slowest.
func Compiled() []kernels.Implementation { return slices.Clone(compiled) }

// Supported lists those that run here.
func Supported() []kernels.Implementation {
	return slices.DeleteFunc(Compiled(), func(impl kernels.Implementation) bool { return !runs(impl) })
}

// Feature is of a CPU.
type Feature struct {
	Name string
	Has  bool // this CPU has it, and nothing switches it off
}

// Needs lists the features that an implementation needs; none of those that every CPU of
// this architecture can run.
func Needs(impl kernels.Implementation) []Feature { return needs(impl) }

// implementation is chosen once, when the program starts.
var implementation = choose(os.Getenv("POSENC_IMPL"), Supported())

// Implementation returns what every operation runs on.
func Implementation() kernels.Implementation { return implementation }

// Use makes every operation run on impl until restore is called. Only tests and
// benchmarks call it, and nothing else runs meanwhile.
func Use(impl kernels.Implementation) (restore func()) {
	before := implementation
	implementation = impl
	return func() { implementation = before }
}

// choose returns the implementation that request names, or generic where it is
// not among the available ones; no request is the first of them.
func choose(request string, available []kernels.Implementation) kernels.Implementation {
	if request == "" {
		return available[0]
	}
	for _, impl := range available {
		if impl.String() == request {
			return impl
		}
	}
	return kernels.Generic
}
