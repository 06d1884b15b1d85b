// Package ropetest tests how an inference engine rotates Q and K, for the engine's own tests: it
// compares the engine's function with what the model's own description says, and a failure says
// what the engine did instead. It needs no model weights, no Python and no golden files.
//
//	func TestRope(t *testing.T) {
//		model, err := modelconfig.HuggingFace(configJSON) // or modelconfig.GGUF(keys, tensors)
//		if err != nil {
//			t.Fatal(err)
//		}
//		engine := load(configJSON)
//		ropetest.Check(t, model, func(layer int, positions []int32, heads []float32) {
//			for i, n := 0, len(heads)/len(positions); i < len(positions); i++ {
//				engine.rotate(layer, int(positions[i]), heads[i*n:(i+1)*n])
//			}
//		})
//	}
//
// A failure reads like this:
//
//	layers 0 to 31: candidate "llama": The frequencies are those of "llama without its rule llama3".
//
// [Models] has the descriptions of forty published models, for engines that support many.
package ropetest
