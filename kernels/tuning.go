package kernels

// All thresholds of the module. Figures are medians of calls taken alternately, go1.26.8, of
// binaries that differ in the one constant: on an AMD EPYC of the Zen 4 generation if nothing
// else is said, on one of Zen 5 where that is said, both with AVX-512. The machines were
// shared, and the same code was up to 30 % apart between two binaries: differences below
// that say nothing. go run -C bench . -tune measures what other values would do.

// MaxCallElements bounds the elements that one call of a kernel works on, so that a
// garbage collection, which cannot interrupt assembly, never waits long. go test -bench
// StopTheWorld on Zen 3: a median of 66 us during Rotate and CosSin, 82 us in plain Go.
const MaxCallElements = 64 << 10

// MaxCallAngles is MaxCallElements for cosines and sines of float32 angles, which cost
// more than a rotation.
const MaxCallAngles = MaxCallElements / 8

// MaxCallScores bounds a tile of scores: memory is best read in its order, so that a
// call takes whole rows where they are not too long. 4 Ki, 16 Ki and 64 Ki are equal
// within the noise of 10 to 20 %: AddBias, ALiBi of 32 x 512 x 2048, 6.76, 6.72, 6.64 ms.
const MaxCallScores = 1 << 14

// Scratch memory on the stack. Go clears it on every call, so that a call for one
// token has less.
const (
	TokenPairs = Width // pairs of a row of cosines and sines, one token

	// Pairs of all rows of several tokens, and rows: 8 KiB, which leave room for heads in
	// the first cache. Rotate of 512 tokens, 8, 16 and 32 rows: 291, 271, 258 us. Heads of 64
	// and of 32 on Zen 5, 32 rows against 16, means over 8 and 32 heads, both layouts,
	// all types, 32 to 8192 tokens: 0.95 and 0.91 of the time (AVX2 0.96, 0.93).
	ChunkPairs = 1024
	ChunkRows  = shiftRows // no more share a seed

	// FusedElements is what one step of a fused operation leaves to the next: it fits the
	// first cache. RotateFused of 512 tokens, 1 Ki, 4 Ki and 16 Ki: float16 453, 454, 506
	// us, bfloat16 529, 479, 473 us.
	FusedElements = 4 << 10
	// TokenElements is FusedElements for a call of one token, which has to clear it: 4 KiB
	// take 33 ns on Zen 5, 1 KiB 12 ns (a function that clears its array, least of two runs).
	TokenElements = 1 << 10
	// Ahead is how many bytes before it is used memory is fetched by kernels that are told
	// what to fetch: see ahead in asm/_gen/amd64.
	Ahead = 3072
	// CopyBytes is heads that wait for a non-temporal store, in the first cache; larger heads
	// are written by plain ones. RotateInto of 64 MiB on Zen 5, 2 Ki to 32 Ki: float32 4.29,
	// 4.58, 4.88, 5.01, 4.62 ms, float32 to float16 6.42, 6.52, 6.74, 7.11, 7.65 ms.
	CopyBytes = 8 << 10
	// TileKeys is the keys of a tile of scores whose biases are made first. AddDeBERTa of
	// 4 x 64 x 2048, 256, 1024 and 4096 keys: 661, 654, 611 us; 4096 are 16 KiB of stack.
	TileKeys = 1024

	SinusoidalRowsAtOnce = shiftRows // rows of a sinusoidal encoding: those that share a seed
	// FewSinusoidalRowsAtOnce is the rows up to which seeds cost more, and memory to clear:
	// SinusoidalRows of 512 float32 on Zen 5 with seeds and without, 2 rows 1.06 and 0.50
	// us, 3 rows 1.11 and 0.68 us, 4 rows 1.17 and 0.90 us, 8 rows 1.4 us and more.
	FewSinusoidalRowsAtOnce = 3
)

const (
	// ShiftedRows is the number of rows from which on one call gains by preparing the Shift of
	// a block, which is 32 seeds. CosSin of 64 frequencies, µs with and without:
	//
	//	rows    AVX-512        AVX2
	//	  32    4.7,  3.7     4.9,  4.4
	//	  64    5.5,  6.8     5.9,  7.7
	//	 128    6.4, 13.4    10.2, 16.3
	ShiftedRows = 64
	// shortRun is the number of rows from which on a run of positions shares a seed.
	// Rotary.CosSin of 64 pairs on Zen 5, ns a row with seeds and without: runs of 2 rows
	// 44, 73; of 3 rows 33, 70.
	shortRun = 2
	// float32Run is shortRun for float32 angles. CosSinFloat32Rows of 64 pairs on Zen 3, ns a row
	// with seeds and without: runs of 4 rows 96, 93; of 6 rows 83, 93; of 16 rows 73, 99; of 32
	// rows 69, 92; by three terms of 8 rows 84, 93, of 32 rows 95, 118.
	float32Run = 6
	// MaxBlocks is the most blocks that SinusoidalRows takes: their seeds are 12 KiB of
	// stack.
	MaxBlocks = 8
)

// seeds reports whether rows of cosines and sines share seeds, which pays for vectors;
// plain Go makes each row by itself.
func (i Implementation) seeds() bool { return i != Generic }

// sharesFloat32 reports whether rows of float32 angles share work too. NEON has no body for it.
func (i Implementation) sharesFloat32() bool { return i == AVX2 || i == AVX512 }

// RotatesAndQuantizes reports whether one kernel rotates heads of headDim elements and quantizes
// them: else a rotation and a kernel that quantizes follow one another. scaled says that the scales
// are in an array. 512 tokens of 8 heads by two kernels and by one, ns a token, half-split,
// interleaved:
//
//	                  Zen 5, AVX-512               Zen 4, AVX2
//	heads of 128      Q8_0  107,  89   118,  98    193, 145   199, 166
//	                  int8  106,  85   115,  99    217, 158   226, 176
//	          E4M3, Scales  127, 109   132, 114    301, 234   299, 250
//	    E4M3, InverseScale  100,  95   106,  99    264, 165   268, 183
//	                  E5M2   99,  95   103,  99    261, 167   266, 180
//	heads of 64       Q8_0   52,  45    56,  49    154, 112   139, 119
//	                  int8   61,  45    64,  51    165, 114   169, 128
//	          E4M3, Scales   69,  56    72,  60    221, 165   226, 170
//	    E4M3, InverseScale   53,  46    55,  48    172, 109   178, 129
//
// Blocks of 4 and 5 bits have none. NEON has none: a simulator saw 2 to 11 % fewer cycles, and no CPU was timed.
func (i Implementation) RotatesAndQuantizes(to Kind, scaled bool, headDim int) bool {
	switch {
	case i == Generic || i == NEON || to > KindQ8:
		return false
	case to != KindQ8 && !scaled:
		const most = 512 // that generic's definition takes
		return headDim%64 == 0 && headDim <= most
	default:
		return headDim == 64 || headDim == 128
	}
}

// Rotations of float32 to float32 fetch heads ahead of time, unless Rotate works in place on
// fewer bytes than residentAVX512 or residentAVX2, which the hardware fetches. Time without, as a
// share of the time with, half-split and interleaved, the same memory again and again, and after
// other memory:
//
//	           Zen 5, AVX-512               Zen 3, AVX2
//	256 KB                                  0.90, 1.00
//	  1 MB     0.91, 0.84                   1.06, 1.14    0.87, 1.06
//	  4 MB                                  1.02, 1.12    0.85, 1.12
//	  8 MB     0.79, 0.74    0.88, 0.78     1.03, 1.15    0.87, 1.12
//	 64 MB                                  0.93, 1.07
//
// At 64 MB it is 1.02 on Zen 4 (half-split), and 1.37 on an Intel Xeon (Sapphire Rapids), whose
// second and third caches are slower; nobody has measured it there from 1 to 16 MB.
const (
	residentAVX512 = 16 << 20
	residentAVX2   = 512 << 10
	// RotateAhead is Rotation.Ahead of the others; 1 to 8 KiB are equal on Zen 3 and 4.
	RotateAhead = 4096
)

// Resident reports whether a call that rotates bytes of float32 in place fetches nothing ahead.
func (i Implementation) Resident(bytes int) bool {
	return i == AVX512 && bytes < residentAVX512 || i == AVX2 && bytes < residentAVX2
}

// A store to a line that is in no cache reads the line first. A call that writes more than the
// caches hold saves that by non-temporal stores.
const (
	// NonTemporalTable is the entries of cos, and as many of sin: 32 MiB together. Exact
	// Rotary.CosSin of 64 pairs on Zen 5, and with AVX2 on Zen 3, ns a pair with and without:
	//
	//	     rows    AVX-512          AVX2, Zen 5    AVX2, Zen 3
	//	   16,384    0.215, 0.230    0.38, 0.39                     8 MiB, which are in no cache afterwards
	//	   65,536    0.21,  0.41     0.39, 0.45      2.2, 0.75
	//	1,048,576    0.29,  0.43     0.44, 0.46      2.3, 0.90
	//
	// AVX2 stores half lines to two arrays alternately, which Zen 3 does not join: there it is
	// 8 GiB.
	NonTemporalTable     = 4 << 20
	nonTemporalTableAVX2 = 1 << 30
	// nonTemporalCopy is the bytes that RotateInto writes. µs with and without:
	//
	//	                    AVX-512     AVX2
	//	8 MiB of float32    404, 770    484, 849
	//	4 MiB of float16    423, 297
	nonTemporalCopy = 8 << 20
)

// NonTemporalTable reports whether a table of that many cosines and sines, together, is written
// by non-temporal stores.
func (i Implementation) NonTemporalTable(entries int) bool {
	if i == AVX2 {
		return entries/2 >= nonTemporalTableAVX2
	}
	return entries/2 >= NonTemporalTable
}

// NonTemporalCopy returns the bytes from which on RotateInto writes by non-temporal
// stores, if the implementation has them.
func (i Implementation) NonTemporalCopy() (bytes int, ok bool) {
	return nonTemporalCopy, i == AVX2 || i == AVX512
}
