package cossin

import (
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// axisCount returns the number of axes of positions, one where axes is empty.
func axisCount(axes []uint8) int {
	count := 1
	for _, a := range axes {
		count = max(count, int(a)+1)
	}
	return count
}

// axesBlocks returns the blocks of frequencies that take their positions from several axes.
func axesBlocks(invFreq []float64, axes []uint8) []kernels.AxesBlock {
	blocks := make([]kernels.AxesBlock, (len(invFreq)+kernels.Width-1)/kernels.Width)
	for i := range blocks {
		first := i * kernels.Width
		end := min(first+kernels.Width, len(invFreq))
		blocks[i].Set(dispatch.Implementation(), invFreq[first:end], axes[first:end])
	}
	return blocks
}

// writeAxes writes rows of all pairs.
func (f *Frequencies) writeAxes(to *Table, p *Positions, scaleCos, scaleSin float32) {
	for part := (Positions{p.Call, p.Axes, p.Tokens, p.First, 0}); part.First < p.First+p.N; part.First += part.N {
		rest := to.From(part.First - p.First)
		part.N = p.First + p.N - part.First
		var same bool
		if part.N, same = part.sameOnAxes(); same {
			f.ladder.Write(&rest, 0, f.pairs, part.Axis(0), scaleCos, scaleSin)
			continue
		}
		if f.blocks == nil {
			writeFloat32Axes(f, &rest, part.Call, part.Tokens, part.First, part.N, scaleCos, scaleSin)
			continue
		}
		for i := range f.blocks {
			done := i * kernels.Width
			kernels.CosSinAxesRows(dispatch.Implementation(), rest.Cos[done:], rest.Sin[done:], rest.Stride, part.Call[part.First:], part.Tokens, part.N, &f.blocks[i], scaleCos, scaleSin, rest.nonTemporal)
		}
	}
}

// writeFloat32Axes is writeAxes for float32 angles, and for n tokens from number first on.
func writeFloat32Axes[P int32 | float32](f *Frequencies, to *Table, positions []P, tokens, first, n int, scaleCos, scaleSin float32) {
	var memory [kernels.ChunkPairs]float32
	angles := memory[:f.pairs]
	for t := range n {
		for j, w := range f.ladder.invFreq32 {
			angles[j] = float32(positions[int(f.axes[j])*tokens+first+t]) * w
		}
		row := to.From(t)
		writeFloat32Row(row.Cos[:f.pairs], row.Sin[:f.pairs], angles, 1, scaleCos, scaleSin)
	}
}

// writeFractionalAxes is writeAxes for positions that need not be integers.
func (f *Frequencies) writeFractionalAxes(to *Table, positions []float32, tokens, first, n int, scaleCos, scaleSin float32) {
	if f.blocks == nil {
		writeFloat32Axes(f, to, positions, tokens, first, n, scaleCos, scaleSin)
		return
	}
	for t := range n {
		row := to.From(t)
		for i := range f.blocks {
			done := i * kernels.Width
			for axis := range f.Axes {
				kernels.CosSinAxisRow(dispatch.Implementation(), row.Cos[done:], row.Sin[done:], &f.blocks[i], axis, float64(positions[axis*tokens+first+t]), scaleCos, scaleSin)
			}
		}
	}
}
