package absolute_test

import (
	"errors"
	"fmt"
	"log"
	"math"

	"github.com/go-posenc/posenc/absolute"
)

// Embeddings of a sentence of three tokens get the encoding of Vaswani et al. added, which
// scales embeddings by the root of their size, here 8.
func Example() {
	const tokens, dim = 3, 8
	encoding, err := absolute.Vaswani(dim)
	if err != nil {
		log.Fatal(err)
	}
	embeddings := make([]float32, tokens*dim) // of the model's table; zeros here
	positions := []int32{0, 1, 2}
	if err := absolute.AddSinusoidal(embeddings, encoding, positions, float32(math.Sqrt(dim))); err != nil {
		log.Fatal(err)
	}
	for t := range tokens {
		fmt.Printf("%.3f\n", embeddings[t*dim:][:dim])
	}
	// Output:
	// [0.000 1.000 0.000 1.000 0.000 1.000 0.000 1.000]
	// [0.841 0.540 0.100 0.995 0.010 1.000 0.001 1.000]
	// [0.909 -0.416 0.199 0.980 0.020 1.000 0.002 1.000]
}

// Position 1 as several models encode it, in 8 channels.
func ExampleSinusoidal() {
	made := func(s *absolute.Sinusoidal, err error) *absolute.Sinusoidal {
		if err != nil {
			log.Fatal(err)
		}
		return s
	}
	for _, model := range []struct {
		name     string
		encoding *absolute.Sinusoidal
	}{
		{"Vaswani", made(absolute.Vaswani(8))},
		{"Marian", made(absolute.Marian(8))},
		{"Whisper", made(absolute.Whisper(8))},
		{"MusicGen", made(absolute.MusicGen(8))},
		{"fairseq", made(absolute.Fairseq(8, 0))},
		{"tensor2tensor", made(absolute.Tensor2Tensor(8, absolute.Tensor2TensorConfig{}))},
		{"MLX", made(absolute.MLX(8, absolute.MLXConfig{}))},
		{"timesteps", made(absolute.Timesteps(8, absolute.TimestepsConfig{FlipSinToCos: true}))}, // of Stable Diffusion
	} {
		row := make([]float32, 8)
		if err := absolute.SinusoidalRows(row, model.encoding, []int32{1}); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%-13s %.3f\n", model.name, row)
	}
	// Output:
	// Vaswani       [0.841 0.540 0.100 0.995 0.010 1.000 0.001 1.000]
	// Marian        [0.841 0.100 0.010 0.001 0.540 0.995 1.000 1.000]
	// Whisper       [0.841 0.046 0.002 0.000 0.540 0.999 1.000 1.000]
	// MusicGen      [0.540 0.999 1.000 1.000 0.841 0.046 0.002 0.000]
	// fairseq       [0.841 0.046 0.002 0.000 0.540 0.999 1.000 1.000]
	// tensor2tensor [0.841 0.046 0.002 0.000 0.540 0.999 1.000 1.000]
	// MLX           [0.421 0.023 0.001 0.000 0.270 0.499 0.500 0.500]
	// timesteps     [0.540 0.995 1.000 1.000 0.841 0.100 0.010 0.001]
}

// DETR's encoding of an image of 2 by 3 pixels, of which the last column is padding: positions
// are normalised to 2π by the size of the image without it. A row has the features of y, then
// those of x.
func ExampleDETRPositions() {
	const height, width, features = 2, 3, 2
	mask := []bool{true, true, false, true, true, false}
	positions := make([]float32, 2*height*width)
	err := absolute.DETRPositions(positions, mask, absolute.DETRPositionsOptions{Height: height, Width: width, NormalizeTo: 2 * math.Pi})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("y %.3f\nx %.3f\n", positions[:height*width], positions[height*width:])

	encoding, err := absolute.DETR(features, 10000)
	if err != nil {
		log.Fatal(err)
	}
	rows := make([]float32, height*width*2*features)
	if err := absolute.SinusoidalRows(rows, encoding, positions); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", rows[:2*features]) // pixel 0, 0: sin and cos of π, twice

	// MAE numbers patches by column and row; its class token is at column -1. Its table is float64.
	mae, err := absolute.MAE(4)
	if err != nil {
		log.Fatal(err)
	}
	columns, lines, table := []int32{-1, 0, 1}, []int32{0, 2, 2}, make([]float64, 3*4)
	if err := absolute.SinusoidalRows64(table, mae, append(columns, lines...)); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v\n%v\n%v\n", table[:4], table[4:8], table[8:])
	// Output:
	// y [3.142 3.142 0.000 6.283 6.283 0.000]
	// x [3.142 6.283 6.283 3.142 6.283 6.283]
	// [0.000 -1.000 0.000 -1.000]
	// [0 0 0 0]
	// [0 1 0.9092974268256817 -0.4161468365471424]
	// [0.8414709848078965 0.5403023058681398 0.9092974268256817 -0.4161468365471424]
}

// An encoding of one's own: two frequencies, sines before cosines.
func ExampleNewSinusoidal() {
	encoding, err := absolute.NewSinusoidal(absolute.SinusoidalConfig{
		Dim: 4, InvFreq: []float64{1, 0.5}, Order: absolute.SinThenCos,
	})
	if err != nil {
		log.Fatal(err)
	}
	rows := make([]float32, 2*4)
	if err := absolute.SinusoidalRows(rows, encoding, []float32{2, 2.5}); err != nil { // positions may be []int32 too
		log.Fatal(err)
	}
	fmt.Printf("%.4f\n%.4f\n", rows[:4], rows[4:]) // sin 2, sin 1, cos 2, cos 1; of 2.5 and 1.25
	// Output:
	// [0.9093 0.8415 -0.4161 0.5403]
	// [0.5985 0.9490 -0.8011 0.3153]
}

// The rows of positions 1 and 2, moved on by 100 without knowing them, and the matrix that moves
// rows of any position by 3.
func ExampleSinusoidal_Shift() {
	s, err := absolute.Whisper(4)
	if err != nil {
		log.Fatal(err)
	}
	shifted, rows, matrix := make([]float32, 2*4), make([]float32, 2*4), make([]float32, 4*4)
	err = errors.Join(
		absolute.SinusoidalRows(shifted, s, []int32{1, 2}), s.Shift(shifted, []int32{100, 100}),
		absolute.SinusoidalRows(rows, s, []int32{101, 102}),
		s.ShiftMatrix(matrix, []int32{3}),
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.6f\n%.6f\n%.3f\n", shifted, rows, matrix)
	// Output:
	// [0.452026 0.010100 0.892005 0.999949 0.994827 0.010200 0.101586 0.999948]
	// [0.452026 0.010100 0.892005 0.999949 0.994827 0.010200 0.101586 0.999948]
	// [-0.990 0.000 0.141 0.000 0.000 1.000 0.000 0.000 -0.141 0.000 -0.990 0.000 0.000 -0.000 0.000 1.000]
}

// The embeddings of RoBERTa for a sequence that ends in a padding token: those of words, plus
// those of token types, plus those of positions, which count from 2 on and are 1 for padding.
func ExampleAddEmbeddings() {
	positions := make([]int32, 3)
	if err := absolute.PaddedPositions(positions, []bool{true, true, false}, 1); err != nil {
		log.Fatal(err)
	}
	fmt.Println(positions)
	words := []float32{1, 2, 3, 4, 0, 0}
	types := absolute.Embedding[float32]{Table: []float32{0, 0, 10, 20}, IDs: []int32{0, 1, 0}}
	learned := absolute.Embedding[float32]{Table: []float32{0, 0, 0, 0, 100, 200, 300, 400}, IDs: positions}
	if err := absolute.AddEmbeddings(words, 2, types, learned); err != nil {
		log.Fatal(err)
	}
	fmt.Println(words)
	// Output:
	// [2 3 1]
	// [101 202 313 424 0 0]
}

// The table of a ViT for images of 2 by 2 patches, its class token first, for images of 3 by 3;
// and a table of 2 positions, for sequences of 4. Engines that gather learned positions
// themselves take indices and weights, of sixteen positions for each patch.
func ExampleInterpolateGrid() {
	const dim, taps = 1, 16
	table := []float32{7, 0, 1, 2, 3}
	larger, longer := make([]float32, (1+3*3)*dim), make([]float32, 4*dim)
	copy(larger, table[:dim])
	options := absolute.InterpolateGridOptions{DstHeight: 3, DstWidth: 3, SrcHeight: 2, SrcWidth: 2, Dim: dim}
	indices, weights := make([]int32, 3*3*taps), make([]float32, 3*3*taps)
	err := errors.Join(
		absolute.InterpolateGrid(larger[dim:], table[dim:], options),
		absolute.GridWeights(indices, weights, options),
		absolute.InterpolateTable(longer, []float32{0, 4}, dim),
	)
	if err != nil {
		log.Fatal(err)
	}
	patch1 := float32(0)
	for i := taps; i < 2*taps; i++ {
		patch1 += weights[i] * table[dim:][indices[i]]
	}
	fmt.Printf("%.3f\n%.3f\n%.3f\n", larger, patch1, longer)
	// Output:
	// [7.000 -0.260 0.326 0.913 0.913 1.500 2.087 2.087 2.674 3.260]
	// 0.326
	// [0.000 1.000 3.000 4.000]
}
