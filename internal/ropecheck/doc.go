// Package ropecheck says what a rotation did. From heads before and after it, it finds the
// layout, the rotated slice of the head, the frequencies and the rest, and says what differs
// from what a model wants.
//
// It is for people who port a model and have a rotation that is almost right: wrong pairs, a
// missing attention factor, the base of other layers, positions off by one, a rotation
// applied twice, tables in bfloat16. Dump Q or K of some tokens before and after the rotation
// in your engine. Give them to [Check] with the configurations that you may have meant, for
// example those of modelconfig for each kind of layer:
//
//	rope, err := model.Rope()
//	cfg := rope.Rotary(0).Config() // of the layer
//	report, err := ropecheck.Check(ropecheck.Data{
//		Before: before, After: after,
//		Tokens: 16, Heads: 32, HeadDim: 128,
//		Positions: positions,
//	}, ropecheck.Candidate{Name: "llama", Config: cfg})
//	fmt.Println(report)
//
// Without candidates Check says what was done, as far as the data tell.
//
// # What to dump
//
// Dump 4 heads or more. Take some positions next to each other and others far apart, for
// example 0 to 15 and 1000 to 1003. One position does not tell a frequency, at position 0
// nothing rotates, and with one head several layouts may explain the data. Undecided of the
// [Report] lists what the data do not decide.
//
// # Method
//
// Let x1, x2 be the elements of a pair before the rotation and y1, y2 the elements after it. A
// rotation multiplies complex numbers. In all heads of token t, pair i has the same factor r:
//
//	y1 + j*y2 = r[t,i] * (x1 + j*x2)
//	r[t,i]    = AttentionFactor * exp(j*positions[t]*InvFreq[i])
//
// For every layout and slice of the head, Check fits r by least squares over the heads. With
// the right pairs all norms change by one factor, and little is left: the noise. Then it fits
// frequencies to the angles of r at the positions, modulo 2*pi. It compares the angles with
// those of the candidates: exact and as engines round them, with the other sign, twice, at
// shifted positions, on other axes.
//
// Known mistakes need no fit: other formulas, frequencies of rules and bases read wrong, positions
// clipped or restarted, blocks of another size. Each is tried as it is. Then Check compares every
// element with what a candidate makes of it, within rounding, and names the heads, tokens and elements
// that are not. Of hypotheses that explain the data the one with the fewest and simplest faults is
// reported, not the one of the least residual.
//
// A residual is relative. It is the root of the sum of squares that a hypothesis leaves
// unexplained, divided by the root of the sum of squares of all elements after the rotation.
// It is near 1 for a wrong hypothesis, and about the rounding of an element for the right one.
//
// Heads that were read from a cache of 8-bit numbers, [Stored], may be half a step of each code off, and
// no more: elements are compared within that, and residuals with the root mean square of half steps.
//
// # Tables and engines
//
// [CheckAbsolute] says which sinusoidal encoding a table is. It fits a sinusoid to columns, tries orders, exponents, bases and
// first positions, and then looks for rows, columns and elements that are others. [Engines] names the engines
// whose cosines and sines give all bits of a rotation.
package ropecheck
