//go:build cgopeers && cgo && linux && amd64

package peers

// #define AVX512
// #include "libraries.h"
import "C"

func avx512Libraries() []library {
	return []library{
		{"SLEEF u10 AVX-512", sleefVersion(), "1.0 ulp", C.sleef_u10_avx512()},
		{"SLEEF u35 AVX-512", sleefVersion(), "3.5 ulp", C.sleef_u35_avx512()},
		{"libmvec AVX-512", glibcVersion(), "4 ulp", C.libmvec_avx512()},
	}
}
