//go:build cgopeers && cgo && linux && amd64

package peers

// #cgo LDFLAGS: -lmvec
// #include "vectors.h"
// #include <gnu/libc-version.h>
//
// // The vector functions of glibc by the names that its ABI gives them. That of
// // sincos takes vectors of pointers, and is slower than these two.
// extern __m256d _ZGVdN4v_cos(__m256d), _ZGVdN4v_sin(__m256d);
// extern __m256 _ZGVdN8v_cosf(__m256), _ZGVdN8v_sinf(__m256);
//
// static inline void double_both(__m256d x, __m256d *c, __m256d *s) { *c = _ZGVdN4v_cos(x); *s = _ZGVdN4v_sin(x); }
// static inline void float_both(__m256 x, __m256 *c, __m256 *s) { *c = _ZGVdN8v_cosf(x); *s = _ZGVdN8v_sinf(x); }
//
// DEFINE_TABLES_DOUBLE(libmvec_double, double_both)
// DEFINE_TABLES_REDUCED(libmvec_reduced, float_both)
// DEFINE_TABLES_FLOAT(libmvec_float, float_both)
// DEFINE_ANGLES(libmvec_angles, float_both)
import "C"

func libmvecPeers() []Peer {
	return libraryPeers("libmvec", "glibc "+C.GoString(C.gnu_get_libc_version())+", AVX2", "4 ulp", libraryFunctions{
		double: C.tables_function(C.libmvec_double), reduced: C.tables_function(C.libmvec_reduced),
		single: C.tables_function(C.libmvec_float), angles: C.angles_function(C.libmvec_angles),
	})
}
