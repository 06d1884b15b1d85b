package rope

import (
	"math"
	"strconv"
	"unsafe"

	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/heads"
	"github.com/go-posenc/posenc/kernels"
)

// Angles is posenc.Angles. The function that takes them checks them by [Angles.Check].
type Angles struct {
	rotary *Rotary
	rows   *Rows
	how    angleKind // (not a bool for each: all fields fit registers)
	tokens int       // of unrotated
	of     []int32   // positions or their deltas, or ids of rows
}

type angleKind uint8

const (
	byPositions     angleKind = iota // the same on every axis
	byAxes                           // [axes][tokens]
	byFractions                      // of is the bits of float32
	byAxesFractions                  // [axes][tokens]
	unrotated
	everyRow // token t takes row t, and of is nil
	byIDs
	bySomeIDs // tokens with negative ids do not rotate; after Check: there are some
)

// At returns the angles of positions, one for each token.
func (r *Rotary) At(positions []int32) Angles { return Angles{rotary: r, of: positions} }

// AtAxes is At for positions [axes][tokens].
func (r *Rotary) AtAxes(positions []int32) Angles {
	return Angles{rotary: r, of: positions, how: byAxes}
}

// AtFractional is At for positions that are not integers.
func (r *Rotary) AtFractional(positions []float32) Angles {
	return Angles{rotary: r, of: bitsOf(positions), how: byFractions}
}

// AtFractionalAxes is AtFractional for positions [axes][tokens].
func (r *Rotary) AtFractionalAxes(positions []float32) Angles {
	return Angles{rotary: r, of: bitsOf(positions), how: byAxesFractions}
}

func bitsOf(positions []float32) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(positions))), len(positions))
}

// Unrotated returns the angles of tokens that do not rotate.
func (r *Rotary) Unrotated(tokens int) Angles {
	return Angles{rotary: r, how: unrotated, tokens: tokens}
}

// All returns the angles of as many tokens as there are rows: token t takes row t.
func (r *Rows) All() Angles { return Angles{rows: r, how: everyRow} }

// At returns the angles of len(ids) tokens: token t takes row ids[t].
func (r *Rows) At(ids []int32) Angles { return Angles{rows: r, how: byIDs, of: ids} }

// AtSome is At, except that tokens with a negative id do not rotate.
func (r *Rows) AtSome(ids []int32) Angles { return Angles{rows: r, how: bySomeIDs, of: ids} }

// Rows returns the rows that a takes, or nil where it computes them.
func (a *Angles) Rows() *Rows { return a.rows }

// ReadFullWidth reads the row of token t, of Angles with FullWidth.
func (a *Angles) ReadFullWidth(to *heads.FullWidthRow, t int, sign float32) {
	a.rows.readFullWidth(to, heads.Slot(a.of, t), sign)
}

// Of returns the positions, their deltas or the ids of rows that a refers to; of fractional positions the bits.
func (a *Angles) Of() []int32 { return a.of }

// Rotary returns what a computes rows by, or nil where it has rows.
func (a *Angles) Rotary() *Rotary { return a.rotary }

// Rotates reports whether tokens rotate.
func (a *Angles) Rotates() bool { return a.how != unrotated }

// FullWidth reports whether rows have an entry for each element.
func (a *Angles) FullWidth() bool { return a.rows != nil && a.rows.fullWidth }

// Check returns how many tokens a has.
func (a *Angles) Check(function string) (tokens int, err error) {
	switch {
	case a.rotary == nil && a.rows == nil:
		return 0, AnglesError(function, "zero: from a nil Rotary or nil Rows, of a layer that there is not, or of rows whose Refill failed", "Angles from a method of a Rotary or of Rows")
	case a.rotary != nil && a.rotary.head.RotaryDim == 0:
		return 0, AnglesError(function, "from a zero Rotary", "Angles from a Rotary of NewRotary")
	case a.how == unrotated:
		if a.tokens < 0 {
			return 0, AnglesError(function, "of "+strconv.Itoa(a.tokens)+" tokens", "at least 0 tokens in Rotary.Unrotated")
		}
		return a.tokens, nil
	case a.how == byPositions:
		return len(a.of), CheckPositions(function, "positions", a.of, a.rotary.lastPosition)
	case a.how == byAxes:
		return a.rotary.Check(function, "positions", a.of, a.axes())
	case a.rotary != nil && a.rotary.frequencies.Decays():
		return 0, AnglesError(function, "from fractional positions and a Rotary with XPos", "a Rotary without XPos")
	case a.rotary != nil:
		return a.rotary.checkFractional(function, a.fractions(), a.axes())
	case a.rows.head.RotaryDim == 0:
		return 0, AnglesError(function, "from zero Rows", "Angles from Rows of Rotary.Rows or NewRows")
	case a.how == everyRow:
		return a.rows.count, nil
	}
	some, err := a.rows.check(function, a.of, a.how == bySomeIDs)
	if !some {
		a.how = byIDs
	}
	return len(a.of), err
}

// axes returns how many positions of a token a has. It is for Angles of a Rotary that is not nil.
func (a *Angles) axes() int {
	if a.how == byAxes || a.how == byAxesFractions {
		return a.rotary.frequencies.Axes
	}
	return 1
}

// CheckMoved checks that a, the argument of that name, has integers on the axes of a Rotary: deltas, or the
// positions by which keys were rotated.
func (a *Angles) CheckMoved(function, name, of string) (tokens int, err error) {
	value := ""
	switch {
	case a.rotary == nil && a.rows == nil:
		value = "zero, or from a nil Rotary"
	case a.rotary == nil || a.how > byAxes:
		value = "not from Rotary.At or Rotary.AtAxes"
	case a.rotary.head.RotaryDim == 0:
		value = "from a zero Rotary"
	case a.rotary.frequencies.Decays():
		value = "from a Rotary with XPos"
	default:
		return a.rotary.Check(function, of, a.of, a.axes())
	}
	return 0, argument.Error(argument.ErrConfig, function, name, value, "Angles from Rotary.At or Rotary.AtAxes, of a Rotary without XPos")
}

func (a *Angles) fractions() []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(a.of))), len(a.of))
}

// AnglesError is the error of the argument a.
func AnglesError(function, value, expected string) error {
	return argument.Error(argument.ErrConfig, function, "a", value, "%s", expected)
}

// Heads returns the head and the factor of cosines and sines, too. (A function that set a rotation through a pointer
// would make the caller's positions escape.)
func (a *Angles) Heads() (h *heads.Head, scaling float32) {
	if a.rows != nil {
		return &a.rows.head, 1 // the entries have the scaling
	}
	return &a.rotary.head, a.rotary.scaling
}

// OneByOne reports whether entries are of elements or heads, or some tokens do not rotate.
func (a *Angles) OneByOne() bool {
	return a.how == unrotated || a.rows != nil && (a.rows.fullWidth || a.rows.heads > 0 || a.how == bySomeIDs)
}

func (a *Angles) CheckUniform(function string) error {
	switch {
	case a.rows != nil && a.rows.heads > 0:
		return AnglesError(function, "from rows with entries for each head", "rows that all heads share")
	case a.how == bySomeIDs:
		return AnglesError(function, "from ids some of which are negative", "a row for each token")
	}
	return nil
}

func (a *Angles) CheckHeads(function string, name argument.Name, heads int) error {
	if a.rows != nil && a.rows.heads > 0 && a.rows.heads != heads {
		return argument.Error(argument.ErrShape, function, name.String(), heads, "the %d heads of the rows", a.rows.heads)
	}
	return nil
}

// Overlaps reports whether x shares memory with positions, deltas or ids, or with a table of the caller.
func (a *Angles) Overlaps(x []byte) bool {
	return argument.Overlap(x, a.of) || a.CallersTable() && (argument.Overlap(x, a.rows.cos.Memory()) || argument.Overlap(x, a.rows.sin.Memory()))
}

func (a *Angles) CallersTable() bool { return a.rows != nil && a.rows.rotary == nil }

func (a *Angles) OverlapError(function, name string) error {
	of := "the positions or deltas"
	if a.rows != nil {
		of = "the table of the rows or with the ids"
	}
	return argument.Error(argument.ErrOverlap, function, name, "sharing memory with "+of, "a view of other memory")
}

// Write makes the rows of n tokens in the memory of to, or points to where they lie.
func (a *Angles) Write(to *cossin.Table, tokens, first, n int, r *heads.Rotation) {
	if a.rows != nil {
		a.rows.read(to, a.of, first, n, r.Sign)
		return
	}
	if a.how >= byFractions {
		a.rotary.frequencies.WriteFractional(to, a.fractions(), tokens, first, n, r.Scaling, r.Scaling*r.Sign)
		return
	}
	a.rotary.frequencies.WriteOnce(to, &cossin.Positions{Call: a.of, Axes: a.axes(), Tokens: tokens, First: first, N: n}, r.Scaling, r.Scaling*r.Sign)
}

// TokenRow is memory for the row of one token: there is no time to clear more.
type TokenRow [2*kernels.TokenPairs + kernels.Line]float32

// WriteRow makes the row of one token, for at most kernels.TokenPairs pairs.
func (a *Angles) WriteRow(memory *TokenRow, r *heads.Rotation) (cos, sin []float32) {
	scratch, pairs := kernels.LineAligned(memory[:]), r.RotaryDim/2
	cos, sin = scratch[:pairs], scratch[kernels.TokenPairs:][:pairs]
	switch {
	case a.rows != nil:
		a.rows.copyRow(cos, sin, heads.Slot(a.of, 0), r.Sign)
	case a.how >= byFractions:
		a.rotary.frequencies.WriteFractional(&cossin.Table{Cos: cos, Sin: sin, Stride: len(cos)}, a.fractions(), 1, 0, 1, r.Scaling, r.Scaling*r.Sign)
	default:
		a.rotary.frequencies.WriteRow(cos, sin, a.of, r.Scaling, r.Scaling*r.Sign)
	}
	return cos, sin
}

func (r *Rotary) CheckExists(function string) error {
	if r == nil || r.head.RotaryDim == 0 {
		return argument.Error(argument.ErrConfig, function, "r", "nil or zero", "a Rotary from NewRotary")
	}
	return nil
}

// Check returns how many tokens positions are for, the argument of that name: [axes][tokens].
func (r *Rotary) Check(function, name string, positions []int32, axes int) (tokens int, err error) {
	if tokens, err = tokensOf(function, name, len(positions), axes); err != nil {
		return 0, err
	}
	return tokens, CheckPositions(function, name, positions, r.lastPosition)
}

// tokensOf returns how many tokens n positions are for.
func tokensOf(function, name string, n, axes int) (tokens int, err error) {
	if n%axes != 0 {
		return 0, argument.Error(argument.ErrLength, function, name, argument.Elements(n), "a multiple of %d, for [axes][tokens] of %d axes", axes, axes)
	}
	return n / axes, nil
}

func (r *Rotary) checkFractional(function string, positions []float32, axes int) (tokens int, err error) {
	if tokens, err = tokensOf(function, "positions", len(positions), axes); err != nil {
		return 0, err
	}
	for i, p := range positions {
		if !(math.Abs(float64(p)) <= float64(r.lastPosition)) {
			return 0, argument.Error(argument.ErrPosition, function, argument.Indexed("positions", i), p, "a number of at most %s", cossin.PositionLimit(r.lastPosition))
		}
	}
	return tokens, nil
}

func CheckPositions(function, name string, positions []int32, last int64) error {
	if last < 1<<31 { // inlined: one token has no time for a call
		return checkEachPosition(function, name, positions, last)
	}
	return nil
}

func checkEachPosition(function, name string, positions []int32, last int64) error {
	for i, p := range positions {
		if int64(p) > last || int64(p) < -last {
			return argument.Error(argument.ErrPosition, function, argument.Indexed(name, i), p, "at most %s", cossin.PositionLimit(last))
		}
	}
	return nil
}

// ChunkTokens returns how many rows of the given number of pairs fit scratch memory.
func ChunkTokens(pairs int) int { return min(kernels.ChunkRows, kernels.ChunkPairs/pairs) }
