// Package dispatch chooses the kernels that every operation runs on.
package dispatch

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-posenc/posenc/kernels"
)

// Compiled lists the implementations of this build, also what the CPU cannot run, from the fastest
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
	Off  bool // GODEBUG switches it off
}

// runs reports whether this CPU has all features that an implementation needs.
func runs(impl kernels.Implementation) bool {
	return !slices.ContainsFunc(Needs(impl), func(f Feature) bool { return !f.Has })
}

// request is for an implementation, or "".
var request = os.Getenv("POSENC_IMPL")

// state is the implementation, plus open until the first operation asks for it: from then
// on it stays.
var state = open | uint32(choose(request, Supported()))

const open = 1 << 8

// lowered is the name that Lower was given, or "".
var (
	mutex   sync.Mutex
	lowered string
)

// An environment that asks for what there is not is heard of, as a GODEBUG of a CPU is.
func init() {
	if request != "" && !slices.Contains(names(Supported()), request) {
		fmt.Fprintln(os.Stderr, "posenc: "+Reason())
	}
}

// Implementation returns what an operation runs on. All operations ask for it, so that nothing
// else has to notice the first; Rotate of one head takes 53.75 ns for that, and not 53.5.
func Implementation() kernels.Implementation {
	s := atomic.LoadUint32(&state)
	if s >= open {
		s = settle()
	}
	return kernels.Implementation(s)
}

//go:noinline
func settle() uint32 { return atomic.AndUint32(&state, open-1) & (open - 1) }

// Chosen returns what operations run on, or would, and leaves it open.
func Chosen() kernels.Implementation {
	return kernels.Implementation(atomic.LoadUint32(&state) & (open - 1))
}

// Lower chooses the implementation of a name, or returns what it takes instead.
func Lower(name string) (want string) {
	mutex.Lock()
	defer mutex.Unlock()
	all := Supported()
	slower := all[slices.Index(all, Chosen()):]
	i := slices.Index(names(slower), name)
	if i < 0 {
		return strings.Join(names(slower), " or ")
	}
	if !atomic.CompareAndSwapUint32(&state, open|uint32(slower[0]), open|uint32(slower[i])) {
		return "it set before the first operation"
	}
	lowered = name
	return ""
}

// Reason says why Chosen is what it is.
func Reason() string {
	mutex.Lock()
	defer mutex.Unlock()
	switch available := names(Supported()); {
	case lowered != "":
		return fmt.Sprintf("SetImplementation(%q)", lowered)
	case slices.Contains(available, request):
		return fmt.Sprintf("POSENC_IMPL is %q", request)
	case request != "":
		asked := slices.DeleteFunc(Compiled(), func(impl kernels.Implementation) bool { return impl.String() != request })
		return fmt.Sprintf("POSENC_IMPL is %q, want %s; plain Go runs", request, strings.Join(available, " or ")) + lacking(asked)
	default:
		return "the fastest here" + lacking(compiled)
	}
}

// lacking says why some of a list do not run, or why there are no others than plain Go.
func lacking(list []kernels.Implementation) (text string) {
	if len(compiled) == 1 {
		if runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64" {
			return "; the build tag purego leaves the others out"
		}
		return "; there are no kernels for " + runtime.GOARCH
	}
	for _, impl := range list {
		var none, off []string
		for _, f := range Needs(impl) {
			switch {
			case f.Off:
				off = append(off, f.Name)
			case !f.Has:
				none = append(none, f.Name)
			}
		}
		if none != nil {
			text += fmt.Sprintf("; %s needs %s of the CPU", impl, strings.Join(none, ", "))
		}
		if off != nil {
			text += fmt.Sprintf("; %s needs %s, which GODEBUG switches off", impl, strings.Join(off, ", "))
		}
	}
	return text
}

func names(list []kernels.Implementation) (names []string) {
	for _, impl := range list {
		names = append(names, impl.String())
	}
	return names
}

// Use makes every operation run on impl until restore is called. Only tests and
// benchmarks call it, and nothing else runs meanwhile.
func Use(impl kernels.Implementation) (restore func()) {
	state0, lowered0 := atomic.LoadUint32(&state), lowered
	atomic.StoreUint32(&state, open|uint32(impl))
	return func() {
		atomic.StoreUint32(&state, state0)
		lowered = lowered0
	}
}

// choose returns the implementation that request names, or generic where it is
// not among the available ones; no request is the first of them.
func choose(request string, available []kernels.Implementation) kernels.Implementation {
	if request == "" {
		return available[0]
	}
	if i := slices.Index(names(available), request); i >= 0 {
		return available[i]
	}
	return kernels.Generic
}
