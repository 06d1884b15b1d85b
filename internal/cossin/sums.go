package cossin

import (
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/kernels"
)

// MaxSumAxes bounds the axes of WriteSums.
const MaxSumAxes = generic.SumAxes

// WriteSums writes rows of cosines and sines of angles that are sums over the axes of
// positions, [axes][tokens], times frequencies, [entries][axes]. A row has as many
// entries as there are frequencies for each axis.
func WriteSums(cos, sin, positions []float32, invFreq []float64, axes, entries int, float32Angles bool) {
	tokens := len(positions) / axes
	var memory [MaxSumAxes]float32
	position := memory[:axes]
	for t := range tokens {
		for a := range position {
			position[a] = positions[a*tokens+t]
		}
		row := Table{Cos: cos[t*entries:][:entries], Sin: sin[t*entries:][:entries]}
		if float32Angles {
			row.writeFloat32Sums(position, invFreq)
			continue
		}
		for at := 0; at < entries; at += kernels.Width {
			end := min(at+kernels.Width, entries)
			kernels.BeforeFMA()
			generic.CosSinSum(row.Cos[at:end], row.Sin[at:end], position, invFreq[at*axes:end*axes])
		}
	}
}

// writeFloat32Sums writes a row whose angles are added up in float32, axis by axis.
func (to *Table) writeFloat32Sums(position []float32, invFreq []float64) {
	var angles [kernels.Width]float32
	n := len(position)
	for at := 0; at < len(to.Cos); at += len(angles) {
		end := min(at+len(angles), len(to.Cos))
		for i := range end - at {
			w := invFreq[(at+i)*n:][:n]
			sum := float32(position[0] * float32(w[0]))
			for a := 1; a < n; a++ {
				sum += float32(position[a] * float32(w[a]))
			}
			angles[i] = sum
		}
		WriteAngles(to.Cos[at:end], to.Sin[at:end], angles[:end-at])
	}
}
