package posenc

import (
	"os"

	"github.com/go-posenc/posenc/kernels"
)

// implementation is what every operation runs on.
var implementation = choose(os.Getenv("POSENC_IMPL"), supported())

// Implementation returns the name of the kernels in use: "avx512", "avx2",
// "neon" or "generic". It is the fastest set that the CPU and the operating
// system support, unless the environment variable POSENC_IMPL named a slower
// one when the program started, GODEBUG (cpu.avx2=off and kin) turned a feature
// off, or the program was built with the tag purego. A POSENC_IMPL that is
// unknown, or not available here, means "generic".
func Implementation() string { return implementation.String() }

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
