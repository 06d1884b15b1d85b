//go:build cgopeers && cgo && linux && amd64

package peers

// #cgo LDFLAGS: -lsleef
// #include "vectors.h"
// #include <sleef.h>
//
// #define DEFINE(accuracy) \
//	static inline void double_##accuracy(__m256d x, __m256d *c, __m256d *s) { \
//		Sleef___m256d_2 both = Sleef_sincosd4_##accuracy##avx2(x); \
//		*s = both.x; *c = both.y; \
//	} \
//	static inline void float_##accuracy(__m256 x, __m256 *c, __m256 *s) { \
//		Sleef___m256_2 both = Sleef_sincosf8_##accuracy##avx2(x); \
//		*s = both.x; *c = both.y; \
//	} \
//	DEFINE_TABLES_DOUBLE(sleef_double_##accuracy, double_##accuracy) \
//	DEFINE_TABLES_REDUCED(sleef_reduced_##accuracy, float_##accuracy) \
//	DEFINE_TABLES_FLOAT(sleef_float_##accuracy, float_##accuracy) \
//	DEFINE_ANGLES(sleef_angles_##accuracy, float_##accuracy)
//
// DEFINE(u10)
// DEFINE(u35)
import "C"

import (
	"fmt"
	"slices"
)

func sleefPeers() []Peer {
	version := fmt.Sprintf("SLEEF %d.%d.%d, AVX2", C.SLEEF_VERSION_MAJOR, C.SLEEF_VERSION_MINOR, C.SLEEF_VERSION_PATCHLEVEL)
	return slices.Concat(
		libraryPeers("SLEEF u10", version, "1.0 ulp", libraryFunctions{
			double: C.tables_function(C.sleef_double_u10), reduced: C.tables_function(C.sleef_reduced_u10),
			single: C.tables_function(C.sleef_float_u10), angles: C.angles_function(C.sleef_angles_u10),
		}),
		libraryPeers("SLEEF u35", version, "3.5 ulp", libraryFunctions{
			double: C.tables_function(C.sleef_double_u35), reduced: C.tables_function(C.sleef_reduced_u35),
			single: C.tables_function(C.sleef_float_u35), angles: C.angles_function(C.sleef_angles_u35),
		}),
	)
}
