// Command gomlx rotates Q and K that GoMLX (github.com/gomlx/gomlx) computed,
// in the memory of its tensors, and lets GoMLX go on with their scores. It runs
// on GoMLX's backend in plain Go; tensors of other backends are rotated alike,
// but are copied there and back where they live on a device.
//
//	go run -C examples/gomlx .
//
// GoMLX 0.26 has no rotary layer: the program composes one of its operators and
// compares. Their float32 angles lose what they say as positions grow.
//
// It is a module of its own, so that importers of posenc do not get GoMLX.
package main

import (
	"fmt"
	"io"
	"log"
	"math"
	"os"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/backends/simplego"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/dtypes/bfloat16"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
)

const (
	batch, tokens     = 2, 8
	queryHeads, width = 4, 64
	keyHeads, headDim = 2, 64
	base              = 10000
)

// rotate rotates heads in place, [batch][tokens][heads][headDim] of float32 or
// bfloat16.
func rotate(r *posenc.Rotary, positions []int32, x *tensors.Tensor) error {
	heads := x.Shape().Dim(2)
	var failed error
	err := x.MutableFlatData(func(flat any) {
		switch data := flat.(type) {
		case []float32:
			failed = posenc.Rotate(r.At(positions), posenc.View[float32]{Data: data, Heads: heads})
		case []bfloat16.BFloat16: // the same bits under another name
			failed = posenc.Rotate(r.At(positions), posenc.View[posenc.BFloat16]{Data: posenc.BFloat16s(data), Heads: heads})
		default:
			failed = fmt.Errorf("rotate: a tensor of %s, expected float32 or bfloat16", x.DType())
		}
	})
	if err != nil {
		return err
	}
	return failed
}

// rotaryGraph is the rotary embedding in operators of GoMLX, half-split, for
// positions [batch][tokens].
func rotaryGraph(x, positions *graph.Node) *graph.Node {
	g, half := x.Graph(), x.Shape().Dim(-1)/2
	exponents := graph.MulScalar(graph.Iota(g, shapes.Make(dtypes.Float32, 1, 1, 1, half), 3), 1/float64(half))
	invFreq := graph.Reciprocal(graph.Pow(graph.Scalar(g, dtypes.Float32, base), exponents))
	angles := graph.Mul(graph.InsertAxes(graph.ConvertDType(positions, dtypes.Float32), -1, -1), invFreq)
	cos, sin := graph.Cos(angles), graph.Sin(angles)
	x1 := graph.Slice(x, graph.AxisRange().Spacer(), graph.AxisRange(0, half))
	x2 := graph.Slice(x, graph.AxisRange().Spacer(), graph.AxisRange(half))
	return graph.Concatenate([]*graph.Node{
		graph.Sub(graph.Mul(x1, cos), graph.Mul(x2, sin)),
		graph.Add(graph.Mul(x2, cos), graph.Mul(x1, sin)),
	}, -1)
}

// project returns the heads of x, [batch][tokens][heads][headDim].
func project(x, weights *graph.Node) *graph.Node {
	return graph.Einsum("btw,whd->bthd", x, weights)
}

// scores returns the scores of attention, [batch][keyHeads][group][queries][keys],
// group being the query heads that share one of the keys.
func scores(q, k *graph.Node) *graph.Node {
	q = graph.Reshape(q, batch, tokens, keyHeads, queryHeads/keyHeads, headDim)
	return graph.MulScalar(graph.Einsum("bqhgd,bkhd->bhgqk", q, k), 1/math.Sqrt(headDim))
}

// random returns a tensor of numbers in [-1, 1): Knuth's MMIX generator.
func random(seed uint64, dimensions ...int) *tensors.Tensor {
	shape := shapes.Make(dtypes.Float32, dimensions...)
	x := make([]float32, shape.Size())
	for i := range x {
		seed = seed*6364136223846793005 + 1442695040888963407
		x[i] = float32(int32(seed>>32)) * 0x1p-31
	}
	return tensors.FromFlatDataAndDimensions(x, dimensions...)
}

// program is the compiled graphs and the weights of Q and K.
type program struct {
	project, rotary, scores *graph.Exec
	x, query, key           *tensors.Tensor
}

func newProgram(backend backends.Backend) (p program, err error) {
	if p.project, err = graph.NewExec(backend, project); err != nil {
		return p, err
	}
	if p.rotary, err = graph.NewExec(backend, rotaryGraph); err != nil {
		return p, err
	}
	p.scores, err = graph.NewExec(backend, scores)
	p.x = random(1, batch, tokens, width)
	p.query, p.key = random(2, width, queryHeads, headDim), random(3, width, keyHeads, headDim)
	return p, err
}

// attend returns the scores of Q and K, rotated by posenc or, without r, by GoMLX.
func (p program) attend(r *posenc.Rotary, positions []int32) ([]float32, error) {
	var rotated [2]*tensors.Tensor
	for i, weights := range []*tensors.Tensor{p.query, p.key} {
		x, err := p.project.Exec1(p.x, weights)
		if err != nil {
			return nil, err
		}
		if r != nil {
			err = rotate(r, positions, x)
		} else {
			x, err = p.rotary.Exec1(x, tensors.FromFlatDataAndDimensions(positions, batch, tokens))
		}
		if err != nil {
			return nil, err
		}
		rotated[i] = x
	}
	s, err := p.scores.Exec1(rotated[0], rotated[1])
	if err != nil {
		return nil, err
	}
	return tensors.CopyFlatData[float32](s)
}

// positionsFrom returns the positions of a batch: one sequence from 0 on, and one
// from first on.
func positionsFrom(first int32) []int32 {
	positions := make([]int32, batch*tokens)
	for t := range int32(tokens) {
		positions[t], positions[tokens+t] = t, first+t
	}
	return positions
}

// difference returns the largest difference of two lists of scores.
func difference(a, b []float32) (largest float64) {
	for i := range a {
		largest = max(largest, math.Abs(float64(a[i])-float64(b[i])))
	}
	return largest
}

// newRotaries returns rotary embeddings of exact and of float32 angles.
func newRotaries() (exact, rounded *posenc.Rotary, err error) {
	if exact, err = posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit, Base: base}); err != nil {
		return nil, nil, err
	}
	rounded, err = posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit, Base: base, Rounding: frequency.Float32})
	return exact, rounded, err
}

func run(w io.Writer) error {
	backend, err := simplego.New("")
	if err != nil {
		return err
	}
	p, err := newProgram(backend)
	if err != nil {
		return err
	}
	exact, rounded, err := newRotaries()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s; posenc on %s\n\n", backend.Description(), posenc.Implementation())
	fmt.Fprintf(w, "A sequence moves to a position. Its scores should stay as they are; they change by up to\n\n")
	fmt.Fprintf(w, "%10s %14s %14s %26s\n", "position", "posenc", "GoMLX", "posenc with float32 angles")
	var atZero [3][]float32
	for _, first := range []int32{0, 1000, 100000, 10000000} {
		var change [3]float64
		for i, r := range []*posenc.Rotary{exact, nil, rounded} {
			scores, err := p.attend(r, positionsFrom(first))
			if err != nil {
				return err
			}
			if first == 0 {
				atZero[i] = scores
			}
			change[i] = difference(scores, atZero[i])
		}
		fmt.Fprintf(w, "%10d %14.2g %14.2g %26.2g\n", first, change[0], change[1], change[2])
	}
	return nil
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("gomlx: ")
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}
