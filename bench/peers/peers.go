// Package peers holds what posenc is measured against: the loops that Go engines
// write, and libraries. A peer whose library is not there on every machine is in
// a file of its own, behind a build tag.
package peers

import (
	"slices"

	"github.com/go-posenc/posenc"
)

// Peer is another way to compute what posenc computes. One of the functions is
// set, or the entries of one by layout.
type Peer struct {
	Name     string // for tables of figures
	Version  string // of the library, or "" for code of this package
	Computes string // in a formula or a few words
	Accuracy string // as its authors state it, or as follows from the formula
	Angle    string // that Tables takes the cosine and sine of
	Vectors  bool   // it computes several numbers at once: fast enough for large tables

	// Tables writes rows of len(invFreq) cosines and sines of positions*invFreq.
	Tables func(cos, sin []float32, positions []int32, invFreq []float64)

	// Angles writes the cosines and sines of float32 angles.
	Angles func(cos, sin, angles []float32)

	// Ready rotates heads of dim elements, which is 128, in place by a ready row of
	// dim/2 cosines and sines. It is indexed by posenc.Layout.
	Ready map[posenc.Layout]func(x, cos, sin []float32, heads, dim int)

	// Operator rotates [tokens][heads][dim], dim being 128, in place and makes its
	// cosines and sines itself. It is indexed by posenc.Layout.
	Operator map[posenc.Layout]func(x []float32, positions []int32, heads, dim int, base float64)

	// Store returns a call that rotates x, [tokens][heads][dim], in place and stores token t as row
	// slots[t] of a cache of a format, as often as there are layers. It is nil for a format that the peer does not have.
	Store func(format string, layout posenc.Layout, x []float32, positions []int32, cache []byte, slots []int64, heads, dim int, base float64, layers int) func()
}

// Angles of tables, from the real product of position and frequency to one where
// frequency and product are rounded to float32.
const (
	ExactAngle   = "exact angle"
	Float64Angle = "float64 angle"
	ReducedAngle = "float64 angle without whole turns, rounded to float32"
	Float32Angle = "float32 angle"
)

// All returns the peers of this build on this machine, and which others are
// absent, each with the reason.
func All() (all []Peer, absent []string) {
	all = slices.Concat(loops(), math32Peers())
	for _, optional := range []func() ([]Peer, []string){archsimdPeers, cgoPeers, ggmlPeers} {
		more, without := optional()
		all, absent = append(all, more...), append(absent, without...)
	}
	return all, absent
}

// byLayout is what a peer does for each layout.
func byLayout[F any](of func(posenc.Layout) F) map[posenc.Layout]F {
	return map[posenc.Layout]F{posenc.HalfSplit: of(posenc.HalfSplit), posenc.Interleaved: of(posenc.Interleaved)}
}
