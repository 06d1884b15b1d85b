// Package ropecheck says what a rotation did: from heads before and after it, it finds
// the layout, the rotated slice of the head, the frequencies and the rest, and what
// differs from what a model wants.
//
// It is for those who port a model, and have a rotation that is almost right: wrong pairs,
// a missed attention factor, the base of other layers, positions off by one, a rotation
// applied twice, tables in bfloat16. Dump Q or K of some tokens before and after the
// rotation in the engine, and give them to [Check] with the configurations that may be
// meant, those of modelconfig for each kind of layer, say:
//
//	cfg, err := model.Rotary()
//	report, err := ropecheck.Check(ropecheck.Data{
//		Before: before, After: after,
//		Tokens: 16, Heads: 32, HeadDim: 128,
//		Positions: positions,
//	}, ropecheck.Candidate{Name: "llama", Config: cfg})
//	fmt.Println(report)
//
// Without candidates it says what was done, as far as the data tell.
//
// # What to dump
//
// Several heads, 4 or more, and positions of which some are neighbours and others far
// apart: 0 to 15 and 1000 to 1003, say. From one position nobody can tell a frequency, at
// position 0 nothing rotates, and with one head several layouts may explain the data. What
// the data do not decide is in Undecided of the [Report].
//
// # Method
//
// With x1, x2 the elements of a pair before and y1, y2 those after it, a rotation multiplies
// complex numbers, the heads h of a token t and pair i by the same one:
//
//	y1 + j*y2 = r[t,i] * (x1 + j*x2)
//	r[t,i]    = AttentionFactor * exp(j*positions[t]*InvFreq[i])
//
// For every layout and slice of the head r is fitted by least squares over the heads. Under
// the right pairs all norms change by one factor and little is left: the noise. The angles
// of r are then fitted by frequencies against the positions, modulo 2*pi, and compared with
// those of the candidates, exact and as engines round them; with the other sign, twice, at
// shifted positions, on other axes.
//
// A residual is relative: the root of the sum of squares of what a hypothesis leaves
// unexplained, by that of all elements after the rotation. It is near 1 for a wrong
// hypothesis, and of the size of the rounding of an element for the right one.
package ropecheck
