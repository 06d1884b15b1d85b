package posenc

import "github.com/go-posenc/posenc/internal/dispatch"

// Implementation returns the name of the kernels in use: "avx512", "avx2",
// "neon" or "generic". It is the fastest set that the CPU and the operating
// system support, unless the environment variable POSENC_IMPL named a slower
// one when the program started, GODEBUG (cpu.avx2=off, say) turned a feature
// off, or the program was built with the tag purego. A POSENC_IMPL that is
// unknown, or not available here, means "generic".
func Implementation() string { return dispatch.Implementation().String() }
