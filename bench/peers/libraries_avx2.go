//go:build cgopeers && cgo && linux && amd64

package peers

// #cgo LDFLAGS: -lsleef -lmvec
// #include "libraries.h"
import "C"

import "fmt"

func avx2Libraries() []library {
	return []library{
		{"SLEEF u10", sleefVersion() + ", AVX2", "1.0 ulp", C.sleef_u10_avx2()},
		{"SLEEF u35", sleefVersion() + ", AVX2", "3.5 ulp", C.sleef_u35_avx2()},
		{"libmvec", glibcVersion() + ", AVX2", "4 ulp", C.libmvec_avx2()},
	}
}

func sleefVersion() string {
	return fmt.Sprintf("SLEEF %d.%d.%d", C.SLEEF_VERSION_MAJOR, C.SLEEF_VERSION_MINOR, C.SLEEF_VERSION_PATCHLEVEL)
}

func glibcVersion() string { return "glibc " + C.GoString(C.gnu_get_libc_version()) }
