package rope

import (
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
)

// CosSin writes the rows of the positions of a.
func (a *Angles) CosSin(function string, cos, sin []float32) error {
	r := a.rotary
	if err := r.CheckExists(function); err != nil {
		return err
	}
	fractional := a.how >= byFractions
	if fractional && r.frequencies.Decays() {
		return argument.Error(argument.ErrConfig, function, "r", "a Rotary with XPos", "a Rotary without XPos")
	}
	tokens, err := a.Check(function)
	if err != nil {
		return err
	}
	pairs := r.head.RotaryDim / 2
	if err := CheckTables(function, cos, sin, tokens, pairs, "positions", a.of); err != nil {
		return err
	}
	table := cossin.Table{Cos: cos, Sin: sin, Stride: pairs}
	if fractional {
		r.frequencies.WriteFractional(&table, a.fractions(), tokens, 0, tokens, r.scaling, r.scaling)
	} else {
		r.frequencies.Write(&table, &cossin.Positions{Call: a.of, Axes: a.axes(), Tokens: tokens, N: tokens}, r.scaling, r.scaling)
	}
	return nil
}

// CheckTables checks that cos and sin hold a row of pairs entries for each token. It also
// checks that they overlap neither each other nor of, the argument of that name.
func CheckTables[T int32 | float32](function string, cos, sin []float32, tokens, pairs int, name string, of []T) error {
	want, ok := argument.Multiply(tokens, pairs)
	for _, table := range [...]struct {
		name string
		len  int
	}{{"cos", len(cos)}, {"sin", len(sin)}} {
		if !ok {
			return argument.Error(argument.ErrLength, function, table.name, argument.Elements(table.len), "%d rows of %d, more than an int can count", tokens, pairs)
		}
		if table.len != want {
			return argument.Error(argument.ErrLength, function, table.name, argument.Elements(table.len), "%d for %d rows of %d", want, tokens, pairs)
		}
	}
	if argument.Overlap(cos, sin) {
		return argument.Error(argument.ErrOverlap, function, "sin", "sharing elements with cos", "another slice")
	}
	return CheckApart(function, cos, sin, name, of)
}

// CheckApart checks that cos and sin share no memory with of, the argument of that name.
func CheckApart[T any](function string, cos, sin []float32, name string, of []T) error {
	switch {
	case argument.Overlap(cos, of):
		return argument.Error(argument.ErrOverlap, function, "cos", "sharing memory with "+name, "another slice")
	case argument.Overlap(sin, of):
		return argument.Error(argument.ErrOverlap, function, "sin", "sharing memory with "+name, "another slice")
	}
	return nil
}
