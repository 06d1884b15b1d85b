package absolute_test

import (
	"fmt"
	"log"

	"github.com/go-posenc/posenc/absolute"
)

// The rows of the first positions, and the embeddings of two tokens scaled by 2
// with the rows of positions 7 and 8 added.
func ExampleAddSinusoidal() {
	s, err := absolute.Vaswani(4)
	if err != nil {
		log.Fatal(err)
	}
	rows := make([]float32, 3*4)
	if err := absolute.SinusoidalRows(rows, s, []int32{0, 1, 2}); err != nil {
		log.Fatal(err)
	}
	for t := range 3 {
		fmt.Println(rows[4*t : 4*t+4])
	}
	embeddings := []float32{1, 2, 3, 4, 5, 6, 7, 8}
	if err := absolute.AddSinusoidal(embeddings, s, []int32{7, 8}, 2); err != nil {
		log.Fatal(err)
	}
	fmt.Println(embeddings)
	// Output:
	// [0 1 0 1]
	// [0.84147096 0.5403023 0.009999833 0.99995]
	// [0.9092974 -0.41614684 0.019998666 0.9998]
	// [2.6569867 4.7539024 6.069943 8.997551 10.989358 11.8545 14.079915 16.996801]
}

// The rows of positions 1 and 2, moved on by 100 without knowing them.
func ExampleSinusoidal_Shift() {
	s, err := absolute.Whisper(4)
	if err != nil {
		log.Fatal(err)
	}
	rows := make([]float32, 2*4)
	if err := absolute.SinusoidalRows(rows, s, []int32{1, 2}); err != nil {
		log.Fatal(err)
	}
	if err := s.Shift(rows, []int32{100, 100}); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.6f\n", rows)
	if err := absolute.SinusoidalRows(rows, s, []int32{101, 102}); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.6f\n", rows)
	// Output:
	// [0.452026 0.010100 0.892005 0.999949 0.994827 0.010200 0.101586 0.999948]
	// [0.452026 0.010100 0.892005 0.999949 0.994827 0.010200 0.101586 0.999948]
}

// The embeddings of BERT: those of words, plus those of token types, plus those
// of positions.
func ExampleAddEmbeddings() {
	words := []float32{1, 2, 3, 4}
	types := absolute.Embedding[float32]{Table: []float32{0, 0, 10, 20}, IDs: []int32{0, 1}}
	positions := absolute.Embedding[float32]{Table: []float32{100, 200, 300, 400, 500, 600}, IDs: []int32{0, 1}}
	if err := absolute.AddEmbeddings(words, 2, types, positions); err != nil {
		log.Fatal(err)
	}
	fmt.Println(words)
	// Output:
	// [101 202 313 424]
}

// A row of MAE's table: its patches are numbered by column and row, and the class
// token is at column -1.
func ExampleSinusoidalRows64() {
	s, err := absolute.MAE(4)
	if err != nil {
		log.Fatal(err)
	}
	columns, rows := []int32{-1, 0, 1}, []int32{0, 2, 2}
	table := make([]float64, 3*4)
	if err := absolute.SinusoidalRows64(table, s, append(columns, rows...)); err != nil {
		log.Fatal(err)
	}
	for t := range 3 {
		fmt.Println(table[4*t : 4*t+4])
	}
	// Output:
	// [0 0 0 0]
	// [0 1 0.9092974268256817 -0.4161468365471424]
	// [0.8414709848078965 0.5403023058681398 0.9092974268256817 -0.4161468365471424]
}

// The positions of RoBERTa for a sequence that ends in two padding tokens.
func ExamplePaddedPositions() {
	mask := []bool{true, true, true, false, false}
	positions := make([]int32, len(mask))
	if err := absolute.PaddedPositions(positions, mask, 1); err != nil {
		log.Fatal(err)
	}
	fmt.Println(positions)
	// Output:
	// [2 3 4 1 1]
}

// The table of a ViT for images of 2 by 2 patches, its class token first, for
// images of 3 by 3.
func ExampleInterpolateGrid() {
	const dim = 1
	table := []float32{7, 0, 1, 2, 3}
	larger := make([]float32, (1+3*3)*dim)
	copy(larger, table[:dim])
	if err := absolute.InterpolateGrid(larger[dim:], table[dim:], absolute.InterpolateGridOptions{DstHeight: 3, DstWidth: 3, SrcHeight: 2, SrcWidth: 2, Dim: dim}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(larger[:dim])
	for row := range 3 {
		fmt.Printf("%.3f\n", larger[dim+3*row:][:3])
	}
	// Output:
	// [7]
	// [-0.260 0.326 0.913]
	// [0.913 1.500 2.087]
	// [2.087 2.674 3.260]
}
