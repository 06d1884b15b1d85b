package frequency_test

import (
	"fmt"
	"log"

	"github.com/go-posenc/posenc/frequency"
)

// Qwen 2.5 with the YaRN block of its model card: "factor": 4.0,
// "original_max_position_embeddings": 32768.
func ExampleYaRN() {
	ladder, err := frequency.YaRN(128, 1e6, frequency.YaRNParameters{Factor: 4, OriginalMaxPositions: 32768}, frequency.Exact)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("pair 0: %.6g, pair 63: %.6g radians per position\n", ladder.InvFreq[0], ladder.InvFreq[63])
	fmt.Printf("cos and sin are multiplied by %.6g\n", ladder.AttentionFactor)
	// Output:
	// pair 0: 1, pair 63: 3.10234e-07 radians per position
	// cos and sin are multiplied by 1.13863
}

// The frequencies of Llama 3.1, with the bits that transformers computes.
func ExampleLlama3() {
	ladder, err := frequency.Llama3(128, 500000, frequency.Llama3Parameters{
		Factor:               8,
		LowFreqFactor:        1,
		HighFreqFactor:       4,
		OriginalMaxPositions: 8192,
	}, frequency.Float32)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(ladder.InvFreq), float32(ladder.InvFreq[1]), float32(ladder.InvFreq[30]), float32(ladder.InvFreq[63]))
	// Output:
	// 64 0.8146172 0.0013718937 3.068926e-07
}
