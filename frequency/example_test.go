package frequency_test

import (
	"errors"
	"fmt"
	"log"
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
)

// Position interpolation by a factor of 4: token 8 of a longer sequence rotates as token 2
// did in training. The fields of a Ladder go into a posenc.RotaryConfig.
func Example() {
	const headDim = 128
	ladder, err := frequency.Linear(headDim, 10000, frequency.LinearParameters{Factor: 4}, frequency.Exact)
	if err != nil {
		log.Fatal(err)
	}
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit, InvFreq: ladder.InvFreq, AttentionFactor: ladder.AttentionFactor})
	if err != nil {
		log.Fatal(err)
	}
	q := make([]float32, headDim)
	q[0] = 1
	if err := posenc.Rotate(rope.At([]int32{8}), posenc.View[float32]{Data: q, Heads: 1}); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.6f %.6f\n", q[0], q[headDim/2]) // the cosine and sine of 2
	// Output:
	// -0.416147 0.909297
}

// Qwen 2.5 with the YaRN settings of its model card: "factor": 4.0,
// "original_max_position_embeddings": 32768. And the frequencies of Llama 3.1, with the bits that
// transformers computes.
func ExampleYaRN() {
	qwen, err1 := frequency.YaRN(128, 1e6, frequency.YaRNParameters{Factor: 4, OriginalMaxPositions: 32768}, frequency.Exact)
	llama, err2 := frequency.Llama3(128, 500000, frequency.Llama3Parameters{
		Factor: 8, LowFreqFactor: 1, HighFreqFactor: 4, OriginalMaxPositions: 8192,
	}, frequency.Float32)
	if err := errors.Join(err1, err2); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("pair 0: %.6g, pair 63: %.6g radians per position\n", qwen.InvFreq[0], qwen.InvFreq[63])
	fmt.Printf("cos and sin are multiplied by %.6g\n", qwen.AttentionFactor)
	fmt.Println(len(llama.InvFreq), float32(llama.InvFreq[1]), float32(llama.InvFreq[30]), float32(llama.InvFreq[63]))
	// Output:
	// pair 0: 1, pair 63: 3.10234e-07 radians per position
	// cos and sin are multiplied by 1.13863
	// 64 0.8146172 0.0013718937 3.068926e-07
}

// Frequencies of heads of 8 elements: without scaling they fall from 1, each by a factor of
// base^(2/8). Position interpolation divides all of them. GGUF files of Llama 3 have a divisor of each
// as a tensor, rope_freqs.weight. In Gemma 4 a quarter of the pairs rotates, with frequencies computed
// for the whole head, here of 16 elements.
func ExampleDefault() {
	unscaled, err1 := frequency.Default(8, 10000, frequency.Exact)
	linear, err2 := frequency.Linear(8, 10000, frequency.LinearParameters{Factor: 4}, frequency.Exact)
	divided, err3 := frequency.Factors(8, 10000, []float64{1, 1, 2.5, 8}, frequency.Exact)
	part, err4 := frequency.Proportional(16, 1e6, frequency.ProportionalParameters{PartialRotaryFactor: 0.25, Factor: 1}, frequency.Exact)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		log.Fatal(err)
	}
	fmt.Println(unscaled.InvFreq)
	fmt.Println(linear.InvFreq)
	fmt.Println(divided.InvFreq)
	fmt.Printf("%.4f\n", part.InvFreq)
	// Output:
	// [1 0.1 0.01 0.001]
	// [0.25 0.025 0.0025 0.00025]
	// [1 0.1 0.004 0.000125]
	// [1.0000 0.1778 0.0000 0.0000 0.0000 0.0000 0.0000 0.0000]
}

// The three rules with a fixed factor. HunYuan has alpha 1000. The GTE models have a
// factor, and some of them have mixed_b.
func ExampleNTK() {
	alpha, err1 := frequency.NTKAlpha(8, 10000, frequency.NTKAlphaParameters{Alpha: 1000}, frequency.Exact)
	fixed, err2 := frequency.NTK(8, 10000, frequency.NTKParameters{Factor: 2}, frequency.Exact)
	mixed, err3 := frequency.NTKMixed(8, 10000, frequency.NTKMixedParameters{Factor: 2, MixedB: 0.625}, frequency.Exact)
	if err := errors.Join(err1, err2, err3); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("alpha  %.6f\nfactor %.6f\nmixed  %.6f\n", alpha.InvFreq, fixed.InvFreq, mixed.InvFreq)
	// Output:
	// alpha  [1.000000 0.010000 0.000100 0.000001]
	// factor [0.840896 0.070711 0.005946 0.000500]
	// mixed  [0.747192 0.063798 0.005604 0.000500]
}

// Two rules by the length of the sequence, here for heads of 8 elements. In dynamic NTK the base grows
// with the sequence, once that is longer than in training: only the first frequency stays the same.
// Phi 3 has two lists of divisors; the long one is for sequences beyond the trained length.
func ExampleLongRoPE() {
	for _, length := range []int{4096, 8192} {
		dynamic, err1 := frequency.DynamicNTK(8, 10000, frequency.DynamicNTKParameters{Factor: 2, MaxPositions: 4096, SequenceLength: length}, frequency.Exact)
		long, err2 := frequency.LongRoPE(8, 10000, frequency.LongRoPEParameters{
			ShortFactors: []float64{1, 1, 1.1, 1.2}, LongFactors: []float64{1, 4, 16, 32},
			OriginalMaxPositions: 4096, Factor: 32, SequenceLength: length,
		}, frequency.Exact)
		if err := errors.Join(err1, err2); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d tokens: dynamic NTK %.5f; LongRoPE %.6f, cos and sin times %.4f\n", length, dynamic.InvFreq, long.InvFreq, long.AttentionFactor)
	}
	// Output:
	// 4096 tokens: dynamic NTK [1.00000 0.10000 0.01000 0.00100]; LongRoPE [1.000000 0.100000 0.009091 0.000833], cos and sin times 1.1902
	// 8192 tokens: dynamic NTK [1.00000 0.06934 0.00481 0.00033]; LongRoPE [1.000000 0.025000 0.000625 0.000031], cos and sin times 1.1902
}

// Patches of an image, as in Qwen2-VL's vision tower. Half of the pairs rotate by the row
// of a patch, the other half by its column, with the same frequencies. Heads have 8
// elements here.
func ExampleAxial() {
	ladder, err := frequency.Axial(10000, frequency.Exact, 4, 4)
	if err != nil {
		log.Fatal(err)
	}
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, InvFreq: ladder.InvFreq, Axes: ladder.Axes})
	if err != nil {
		log.Fatal(err)
	}
	positions := []int32{0, 0, 1, 1, 0, 1, 0, 1} // [axes][patches] of a grid of 2 by 2: rows, columns
	cos, sin := make([]float32, 4*4), make([]float32, 4*4)
	if err := rope.CosSinAxes(cos, sin, positions); err != nil {
		log.Fatal(err)
	}
	fmt.Println(ladder.InvFreq, ladder.Axes)
	fmt.Printf("%.3f\n", cos[4:8]) // of the second patch
	// Output:
	// [1 0.01 1 0.01] [0 0 1 1]
	// [1.000 1.000 0.540 1.000]
}

// How other vision towers deal frequencies out to axes. Pixtral gives rows and columns frequencies in
// turn. Of two neighbouring pairs of Kimi's MoonViT, one takes the column and one takes the row.
// V-JEPA 2 has one frequency for each element, here 4 each for frame, row and column.
func ExampleAxialAlternating() {
	pixtral, err1 := frequency.AxialAlternating(8, 10000, frequency.Exact)
	moonViT, err2 := frequency.AxialInterleaved(8, 10000, frequency.Exact)
	vJEPA, err3 := frequency.AxialTiled(10000, frequency.Exact, 4, 4, 4)
	if err := errors.Join(err1, err2, err3); err != nil {
		log.Fatal(err)
	}
	for _, ladder := range []frequency.Ladder{pixtral, moonViT, vJEPA} {
		fmt.Println(ladder.InvFreq, ladder.Axes)
	}
	// Output:
	// [1 0.01 0.1 0.001] [0 0 1 1]
	// [1 1 0.01 0.01] [0 1 0 1]
	// [1 0.01 1 0.01 1 0.01 1 0.01 1 0.01 1 0.01] [0 0 0 0 1 1 1 1 2 2 2 2]
}

// Atoms of ESMFold2 have coordinates and the id of their space. Heads have 32 elements
// here.
func ExampleESMFold2() {
	ladder, err := frequency.ESMFold2(32, frequency.ESMFold2Parameters{SpatialPairs: 2, UIDPairs: 10, SpatialBase: 20, UIDBase: 10000}, frequency.Exact)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f\n", ladder.InvFreq)
	fmt.Println(ladder.Axes)
	// Output:
	// [1.0000 0.2236 1.0000 0.2236 1.0000 0.2236 1.0000 0.3981 0.1585 0.0631 0.0251 0.0100 0.0040 0.0016 0.0006 0.0003]
	// [0 0 1 1 2 2 3 3 3 3 3 3 3 3 3 3]
}

// M-RoPE of Qwen2-VL, Qwen3-VL and ERNIE 4.5 VL, here with 8 pairs: which pairs take the
// time (0), the height (1) and the width (2) of a token.
func ExampleSections() {
	qwen2, err1 := frequency.Sections(2, 3, 3)
	qwen3, err2 := frequency.InterleavedSections(frequency.ImageSections{Time: 4, Height: 2, Width: 2})
	ernie, err3 := frequency.AlternatingSections(frequency.ImageSections{Time: 2, Height: 3, Width: 3})
	if err := errors.Join(err1, err2, err3); err != nil {
		log.Fatal(err)
	}
	fmt.Println(qwen2)
	fmt.Println(qwen3)
	fmt.Println(ernie)
	// Output:
	// [0 0 1 1 1 2 2 2]
	// [0 1 2 0 1 2 0 0]
	// [1 2 1 2 1 2 0 0]
}

// Sinusoidal positions, for absolute.Vaswani. Those of Vaswani et al. here have 8 channels. Whisper
// divides by one less, so its last frequency is 1/Base. The timescales of tensor2tensor grow from 1 to
// 10000. MLX gives the first and the last frequency.
func ExampleSinusoidal() {
	vaswani, err1 := frequency.Sinusoidal(4, frequency.SinusoidalParameters{First: 1, Base: 10000, Denominator: 4})
	whisper, err2 := frequency.Sinusoidal(4, frequency.SinusoidalParameters{First: 1, Base: 10000, Denominator: 3})
	tensor2tensor, err3 := frequency.TimingSignal(3, frequency.TimingSignalParameters{MinTimescale: 1, MaxTimescale: 10000})
	mlx, err4 := frequency.Geometric(5, frequency.GeometricParameters{First: 1, Last: 0.0001})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v\n%.6f\n%v\n%v\n", vaswani, whisper, tensor2tensor, mlx)
	// Output:
	// [1 0.1 0.01 0.001]
	// [1.000000 0.046416 0.002154 0.000100]
	// [1 0.01 0.0001]
	// [1 0.1 0.01 0.001 0.0001]
}

// How much each pair of heads of 8 elements decays over 512 positions.
// posenc.RotaryConfig.XPos does this for you.
func ExampleXPos() {
	const scaleBase = 512
	high, low, err := frequency.XPos(8, scaleBase)
	if err != nil {
		log.Fatal(err)
	}
	for i := range high {
		fmt.Printf("pair %d: %.4f\n", i, math.Exp2(scaleBase*(high[i]+low[i])))
	}
	// Output:
	// pair 0: 0.2857
	// pair 1: 0.4643
	// pair 2: 0.6429
	// pair 3: 0.8214
}
