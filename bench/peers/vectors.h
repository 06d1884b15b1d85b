// Loops over vectors of AVX2 around the cosine and sine of a library. Lengths are
// multiples of 8.

#pragma GCC target("avx2,fma")
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

typedef void (*tables_function)(float *cos, float *sin, const int32_t *positions, size_t rows, const double *w, size_t n);
typedef void (*angles_function)(float *cos, float *sin, const float *angles, size_t n);

// Go cannot call a pointer.
static inline void call_tables(tables_function f, float *cos, float *sin, const int32_t *positions, size_t rows, const double *w, size_t n) {
	f(cos, sin, positions, rows, w, n);
}
static inline void call_angles(angles_function f, float *cos, float *sin, const float *angles, size_t n) { f(cos, sin, angles, n); }

// DEFINE_TABLES_DOUBLE: the angle, its cosine and sine in double, rounded once.
// both(x, &c, &s) is of __m256d.
#define DEFINE_TABLES_DOUBLE(name, both) \
	void name(float *cos, float *sin, const int32_t *positions, size_t rows, const double *w, size_t n) { \
		for (size_t t = 0; t < rows; t++) { \
			__m256d p = _mm256_set1_pd(positions[t]), c, s; \
			for (size_t i = 0; i < n; i += 4) { \
				both(_mm256_mul_pd(p, _mm256_loadu_pd(w + i)), &c, &s); \
				_mm_storeu_ps(cos + t * n + i, _mm256_cvtpd_ps(c)); \
				_mm_storeu_ps(sin + t * n + i, _mm256_cvtpd_ps(s)); \
			} \
		} \
	}

// DEFINE_TABLES_REDUCED: the angle in turns in double, without its whole turns, then
// radians, their cosine and sine in float. both(x, &c, &s) is of __m256.
#define DEFINE_TABLES_REDUCED(name, both) \
	void name(float *cos, float *sin, const int32_t *positions, size_t rows, const double *w, size_t n) { \
		double turns[n]; \
		for (size_t i = 0; i < n; i++) turns[i] = w[i] * 0x1.45f306dc9c883p-3; /* 1 / (2 pi) */ \
		for (size_t t = 0; t < rows; t++) { \
			__m256d p = _mm256_set1_pd(positions[t]); \
			for (size_t i = 0; i < n; i += 8) { \
				__m128 low = reduced(p, turns + i), high = reduced(p, turns + i + 4); \
				__m256 c, s; \
				both(_mm256_set_m128(high, low), &c, &s); \
				_mm256_storeu_ps(cos + t * n + i, c); \
				_mm256_storeu_ps(sin + t * n + i, s); \
			} \
		} \
	}

static inline __m128 reduced(__m256d p, const double *turns) {
	__m256d a = _mm256_mul_pd(p, _mm256_loadu_pd(turns));
	a = _mm256_sub_pd(a, _mm256_round_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
	return _mm256_cvtpd_ps(_mm256_mul_pd(a, _mm256_set1_pd(0x1.921fb54442d18p+2))); // 2 pi
}

// DEFINE_TABLES_FLOAT: position, frequency and angle rounded to float, then the
// cosine and sine in float.
#define DEFINE_TABLES_FLOAT(name, both) \
	void name(float *cos, float *sin, const int32_t *positions, size_t rows, const double *w, size_t n) { \
		float rounded[n]; \
		for (size_t i = 0; i < n; i++) rounded[i] = w[i]; \
		for (size_t t = 0; t < rows; t++) { \
			__m256 p = _mm256_set1_ps(positions[t]), c, s; \
			for (size_t i = 0; i < n; i += 8) { \
				both(_mm256_mul_ps(p, _mm256_loadu_ps(rounded + i)), &c, &s); \
				_mm256_storeu_ps(cos + t * n + i, c); \
				_mm256_storeu_ps(sin + t * n + i, s); \
			} \
		} \
	}

// DEFINE_ANGLES: the cosine and sine of a float.
#define DEFINE_ANGLES(name, both) \
	void name(float *cos, float *sin, const float *angles, size_t n) { \
		__m256 c, s; \
		for (size_t i = 0; i < n; i += 8) { \
			both(_mm256_loadu_ps(angles + i), &c, &s); \
			_mm256_storeu_ps(cos + i, c); \
			_mm256_storeu_ps(sin + i, s); \
		} \
	}
