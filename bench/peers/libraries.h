// The libraries: SLEEF's functions of 1.0 ulp (u10) and of 3.5 ulp (u35), and
// glibc's libmvec.

#include "vectors.h"
#include <gnu/libc-version.h>
#include <sleef.h>

#ifdef AVX512
typedef Sleef___m512d_2 two_doubles;
typedef Sleef___m512_2 two_floats;
#define SLEEF_DOUBLE(accuracy) Sleef_sincosd8_##accuracy##avx512f
#define SLEEF_FLOAT(accuracy) Sleef_sincosf16_##accuracy##avx512f
#define LIBMVEC_DOUBLE(function) _ZGVeN8v_##function
#define LIBMVEC_FLOAT(function) _ZGVeN16v_##function##f
#else
typedef Sleef___m256d_2 two_doubles;
typedef Sleef___m256_2 two_floats;
#define SLEEF_DOUBLE(accuracy) Sleef_sincosd4_##accuracy##avx2
#define SLEEF_FLOAT(accuracy) Sleef_sincosf8_##accuracy##avx2
#define LIBMVEC_DOUBLE(function) _ZGVdN4v_##function
#define LIBMVEC_FLOAT(function) _ZGVdN8v_##function##f
#endif

#define DEFINE_SLEEF(accuracy) \
	static inline void sleef_double_##accuracy(doubles x, doubles *c, doubles *s) { \
		two_doubles both = SLEEF_DOUBLE(accuracy)(x); \
		*s = both.x; *c = both.y; \
	} \
	static inline void sleef_float_##accuracy(floats x, floats *c, floats *s) { \
		two_floats both = SLEEF_FLOAT(accuracy)(x); \
		*s = both.x; *c = both.y; \
	} \
	DEFINE_LIBRARY(NAMED(sleef_##accuracy), sleef_double_##accuracy, sleef_float_##accuracy)

DEFINE_SLEEF(u10)
DEFINE_SLEEF(u35)

// By the names that glibc's ABI gives them. That of sincos takes vectors of
// pointers, and is slower than these two.
extern doubles LIBMVEC_DOUBLE(cos)(doubles), LIBMVEC_DOUBLE(sin)(doubles);
extern floats LIBMVEC_FLOAT(cos)(floats), LIBMVEC_FLOAT(sin)(floats);

static inline void libmvec_double(doubles x, doubles *c, doubles *s) { *c = LIBMVEC_DOUBLE(cos)(x); *s = LIBMVEC_DOUBLE(sin)(x); }
static inline void libmvec_float(floats x, floats *c, floats *s) { *c = LIBMVEC_FLOAT(cos)(x); *s = LIBMVEC_FLOAT(sin)(x); }

DEFINE_LIBRARY(NAMED(libmvec), libmvec_double, libmvec_float)
