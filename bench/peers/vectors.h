// Loops over vectors around the cosine and sine of a library. With AVX512
// defined vectors have 512 bits, without it 256. Lengths are multiples of LANES.

#ifdef AVX512
#pragma GCC target("avx512f,avx512dq")
#define LANES 16
#define NAMED(name) name##_avx512
#else
#pragma GCC target("avx2,fma")
#define LANES 8
#define NAMED(name) name##_avx2
#endif

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#ifdef AVX512
typedef __m512 floats;
typedef __m512d doubles;
typedef __m256 half_floats;
#else
typedef __m256 floats;
typedef __m256d doubles;
typedef __m128 half_floats;
#endif

// The same at any address.
typedef float floats_at __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef double doubles_at __attribute__((vector_size(4 * LANES), aligned(8), may_alias));
typedef float half_floats_at __attribute__((vector_size(2 * LANES), aligned(4), may_alias));

typedef void (*tables_function)(float *cos, float *sin, const int32_t *positions, size_t rows, const double *w, size_t n);
typedef void (*angles_function)(float *cos, float *sin, const float *angles, size_t n);

// loops are those around one library.
typedef struct {
	tables_function doubles, reduced, floats;
	angles_function angles;
} loops;

// Go cannot call a pointer.
static inline void call_tables(tables_function f, float *cos, float *sin, const int32_t *positions, size_t rows, const double *w, size_t n) {
	f(cos, sin, positions, rows, w, n);
}
static inline void call_angles(angles_function f, float *cos, float *sin, const float *angles, size_t n) { f(cos, sin, angles, n); }

// store_rounded stores x as float.
static inline void store_rounded(float *to, doubles x) { *(half_floats_at *)to = __builtin_convertvector(x, half_floats); }

// DEFINE_TABLES_DOUBLE: the angle, its cosine and sine in double, rounded once.
// both(x, &c, &s) is of doubles.
#define DEFINE_TABLES_DOUBLE(name, both) \
	static void name(float *cos, float *sin, const int32_t *positions, size_t rows, const double *w, size_t n) { \
		for (size_t t = 0; t < rows; t++) { \
			for (size_t i = 0; i < n; i += LANES / 2) { \
				doubles c, s; \
				both(*(const doubles_at *)(w + i) * (double)positions[t], &c, &s); \
				store_rounded(cos + t * n + i, c); \
				store_rounded(sin + t * n + i, s); \
			} \
		} \
	}

// DEFINE_TABLES_REDUCED: the angle in turns in double, without its whole turns, then
// radians, their cosine and sine in float. both(x, &c, &s) is of floats.
#define DEFINE_TABLES_REDUCED(name, both) \
	static void name(float *cos, float *sin, const int32_t *positions, size_t rows, const double *w, size_t n) { \
		double turns[n]; \
		for (size_t i = 0; i < n; i++) turns[i] = w[i] * 0x1.45f306dc9c883p-3; /* 1 / (2 pi) */ \
		for (size_t t = 0; t < rows; t++) { \
			for (size_t i = 0; i < n; i += LANES) { \
				float angles[LANES] __attribute__((aligned(64))); \
				store_rounded(angles, reduced(positions[t], turns + i)); \
				store_rounded(angles + LANES / 2, reduced(positions[t], turns + i + LANES / 2)); \
				floats c, s; \
				both(*(floats *)angles, &c, &s); \
				*(floats_at *)(cos + t * n + i) = c; \
				*(floats_at *)(sin + t * n + i) = s; \
			} \
		} \
	}

static inline doubles reduced(double position, const double *turns) {
	const double integer = 0x1.8p52; // added and taken off, it leaves the nearest integer
	doubles a = *(const doubles_at *)turns * position;
	a -= a + integer - integer;
	return a * 0x1.921fb54442d18p+2; // 2 pi
}

// DEFINE_TABLES_FLOAT: position, frequency and angle rounded to float, then the
// cosine and sine in float.
#define DEFINE_TABLES_FLOAT(name, both) \
	static void name(float *cos, float *sin, const int32_t *positions, size_t rows, const double *w, size_t n) { \
		float rounded[n]; \
		for (size_t i = 0; i < n; i++) rounded[i] = w[i]; \
		for (size_t t = 0; t < rows; t++) { \
			for (size_t i = 0; i < n; i += LANES) { \
				floats c, s; \
				both(*(const floats_at *)(rounded + i) * (float)positions[t], &c, &s); \
				*(floats_at *)(cos + t * n + i) = c; \
				*(floats_at *)(sin + t * n + i) = s; \
			} \
		} \
	}

// DEFINE_ANGLES: the cosine and sine of a float.
#define DEFINE_ANGLES(name, both) \
	static void name(float *cos, float *sin, const float *angles, size_t n) { \
		for (size_t i = 0; i < n; i += LANES) { \
			floats c, s; \
			both(*(const floats_at *)(angles + i), &c, &s); \
			*(floats_at *)(cos + i) = c; \
			*(floats_at *)(sin + i) = s; \
		} \
	}

// DEFINE_LIBRARY: name returns the four loops above around functions of a library.
#define DEFINE_LIBRARY(name, double_both, float_both) DEFINE_LIBRARY_EXPANDED(name, double_both, float_both)
#define DEFINE_LIBRARY_EXPANDED(name, double_both, float_both) \
	DEFINE_TABLES_DOUBLE(name##_doubles, double_both) \
	DEFINE_TABLES_REDUCED(name##_reduced, float_both) \
	DEFINE_TABLES_FLOAT(name##_floats, float_both) \
	DEFINE_ANGLES(name##_angles, float_both) \
	loops name(void) { return (loops){name##_doubles, name##_reduced, name##_floats, name##_angles}; }
