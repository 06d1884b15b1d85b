// Command onnx runs ONNX's RotaryEmbedding (ai.onnx, opset 23) on posenc: keys of
// a batch of two sequences, in float32 and in bfloat16, and a position that the
// caches do not have.
//
//	go run ./examples/onnx
package main

import (
	"fmt"
	"log"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/examples/onnx/operator"
	"github.com/go-posenc/posenc/generic"
)

const (
	batch, heads, sequence, headSize = 2, 1, 3, 4

	rows, pairs = 8, headSize / 2
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("onnx: ")

	// The caches, which a model file brings along.
	r, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: headSize, Layout: posenc.HalfSplit})
	if err != nil {
		log.Fatal(err)
	}
	var positions [rows]int32
	for p := range positions {
		positions[p] = int32(p)
	}
	cos := operator.Tensor[float32]{Shape: []int{rows, pairs}, Data: make([]float32, rows*pairs)}
	sin := operator.Tensor[float32]{Shape: []int{rows, pairs}, Data: make([]float32, rows*pairs)}
	if err := r.CosSin(cos.Data, sin.Data, positions[:]); err != nil {
		log.Fatal(err)
	}

	x := operator.Tensor[float32]{Shape: []int{batch, heads, sequence, headSize}, Data: make([]float32, batch*heads*sequence*headSize)}
	for i := range x.Data {
		x.Data[i] = float32(1 + i%headSize)
	}
	// The second sequence continues one of three tokens.
	ids := operator.Tensor[int64]{Shape: []int{batch, sequence}, Data: []int64{0, 1, 2, 3, 4, 5}}
	attributes := operator.Attributes{Interleaved: true}

	y, err := operator.RotaryEmbedding(x, cos, sin, &ids, attributes)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("position_id  Y, float32                                       Y, bfloat16")
	y16, err := operator.RotaryEmbedding(toBFloat16(x), toBFloat16(cos), toBFloat16(sin), &ids, attributes)
	if err != nil {
		log.Fatal(err)
	}
	for t, id := range ids.Data {
		fmt.Printf("%11d  %-48s %s\n", id, fmt.Sprint(y.Data[t*headSize:][:headSize]), fmt.Sprint(fromBFloat16(y16.Data[t*headSize:][:headSize])))
	}

	ids.Data[5] = rows
	_, err = operator.RotaryEmbedding(x, cos, sin, &ids, attributes)
	fmt.Println(err)
}

// toBFloat16 rounds to nearest, ties to even.
func toBFloat16(t operator.Tensor[float32]) operator.Tensor[posenc.BFloat16] {
	bits := make([]uint16, len(t.Data))
	generic.ConvertF32ToBF16(bits, t.Data)
	return operator.Tensor[posenc.BFloat16]{Shape: t.Shape, Data: posenc.BFloat16s(bits)}
}

func fromBFloat16(s []posenc.BFloat16) (wide []float32) {
	for _, v := range s {
		wide = append(wide, generic.BFloat16ToFloat32(uint16(v)))
	}
	return wide
}
