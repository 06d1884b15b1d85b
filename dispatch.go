package posenc

import "github.com/go-posenc/posenc/internal/dispatch"

// Implementation returns the name of the kernels in use: "avx512", "avx2", "neon" or
// "generic", which is plain Go. The package documentation says how they are chosen.
func Implementation() string { return dispatch.Implementation().String() }
