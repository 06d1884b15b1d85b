package posenc

import "github.com/go-posenc/posenc/internal/dispatch"

// Implementation returns the name of the kernels in use: "avx512", "avx2", "neon" or
// "generic", which is plain Go. It is the fastest set that the CPU and the operating
// system support, unless one of these asked for less: the environment variable POSENC_IMPL
// when the program started, GODEBUG (for example cpu.avx2=off), or the build tag purego. A
// POSENC_IMPL that is unknown, or not available on this machine, means "generic".
func Implementation() string { return dispatch.Implementation().String() }
