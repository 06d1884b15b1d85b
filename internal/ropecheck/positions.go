package ropecheck

import (
	"fmt"
	"iter"
	"slices"
)

// mostRestarts are the tokens that positions may restart at, and the bounds they may be clipped at, that are tried.
const mostRestarts = 64

// pattern says how positions of an engine come from the given ones, both [axes][tokens], "" where it is
// no known mistake.
func pattern(given, got []int32, axes int) string {
	tokens := len(given) / axes
	all := func(is func(axis, t int) bool) bool {
		for i := range given {
			if !is(i/tokens, i%tokens) {
				return false
			}
		}
		return true
	}
	at := func(list []int32, axis, t int) int32 { return list[axis*tokens+t] }
	highest := slices.Max(got)
	switch {
	case tokens < 3:
		return ""
	case all(func(a, t int) bool { return at(got, a, t) == at(got, 0, 0) }):
		return fmt.Sprintf("All tokens rotate by position %d.", got[0])
	case all(func(a, t int) bool { return at(got, a, t) == int32(t) }):
		return "Positions are sequential, 0 for the first token, 1 for the next, not the given ones."
	case all(func(a, t int) bool { return at(got, a, t) == min(at(given, a, t), highest) }):
		return fmt.Sprintf("Positions are clipped at %d.", highest)
	case all(func(a, t int) bool { return at(got, a, t) == at(given, a, tokens-1-t) }):
		return "Positions are in reverse order: the first token has that of the last one."
	case all(func(a, t int) bool { return at(got, a, t) == at(given, a, (t+1)%tokens) || t == tokens-1 }):
		return "Each token has the position of the next token."
	case all(func(a, t int) bool { return t == 0 || at(got, a, t) == at(given, a, t-1) }):
		return "Each token has the position of the token before."
	case all(func(a, t int) bool { return at(got, a, t) == at(given, a, t)/2 }):
		return "Positions are divided by 2 and rounded down."
	case all(func(a, t int) bool { return float32(at(got, a, t)) == BFloat16.round(float32(at(given, a, t))) }):
		return "Positions are rounded to bfloat16."
	case all(func(a, t int) bool { return float32(at(got, a, t)) == Float16.round(float32(at(given, a, t))) }):
		return "Positions are rounded to float16."
	case axes > 1 && all(func(a, t int) bool { return at(got, a, t) == at(given, 0, t) }):
		return "All pairs follow axis 0 alone."
	}
	for _, n := range []int32{highest + 1, 128, 256, 512, 1000, 1024, 2048, 4096, 8192, 16384, 32768, 65536} {
		if n > 1 && highest < n && all(func(a, t int) bool { return at(got, a, t) == at(given, a, t)%n }) {
			return fmt.Sprintf("Positions are taken modulo %d.", n)
		}
	}
	same := tokens // those before the first token that differs
	for i := range given {
		if got[i] != given[i] {
			same = min(same, i%tokens)
		}
	}
	for first := max(1, same-mostRestarts); first <= min(same, tokens-1); first++ {
		if all(func(a, t int) bool { return t < first || at(got, a, t) == int32(t-first) }) ||
			all(func(a, t int) bool { return t < first || at(got, a, t) == at(given, a, t)-at(given, a, first) }) {
			return fmt.Sprintf("Positions restart at token %d.", first)
		}
	}
	return ""
}

// mistaken yields the positions of known mistakes, each list when it is asked for.
func mistaken(given []int32, axes int) iter.Seq[[]int32] {
	n := len(given) / axes
	var list []func(axis, t int) int32
	add := func(of func(axis, t int) int32) { list = append(list, of) }
	at := func(axis, t int) int32 { return given[axis*n+t] }
	add(func(_, t int) int32 { return int32(t) })
	add(func(a, t int) int32 { return at(a, n-1-t) })
	add(func(a, t int) int32 { return at(a, (t+1)%n) })
	add(func(a, t int) int32 { return at(a, (t+n-1)%n) })
	add(func(a, t int) int32 { return at(a, t) / 2 })
	add(func(_, t int) int32 { return at(0, t) })
	add(func(a, t int) int32 { return int32(BFloat16.round(float32(at(a, t)))) })
	add(func(a, t int) int32 { return int32(Float16.round(float32(at(a, t)))) })
	add(func(a, _ int) int32 { return at(a, 0) })
	add(func(a, _ int) int32 { return at(a, n-1) })
	highest := slices.Max(given)
	for most := int32(128); most < highest && most < 1<<20; most *= 2 {
		add(func(a, t int) int32 { return min(at(a, t), most-1) })
		add(func(a, t int) int32 { return min(at(a, t), most) })
		add(func(a, t int) int32 { return at(a, t) % most })
	}
	distinct := slices.Clone(given)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	for _, p := range distinct[:min(len(distinct), mostRestarts)] {
		add(func(a, t int) int32 { return min(at(a, t), p) })
	}
	for first := 1; first < min(n, mostRestarts); first++ {
		add(func(a, t int) int32 {
			if t >= first {
				return int32(t - first)
			}
			return at(a, t)
		})
		add(func(a, t int) int32 {
			if t >= first {
				return at(a, t) - at(a, first)
			}
			return at(a, t)
		})
	}
	return func(yield func([]int32) bool) {
		for _, of := range list {
			got := make([]int32, len(given))
			for i := range got {
				got[i] = of(i/n, i%n)
			}
			if !slices.Equal(got, given) && !yield(got) {
				return
			}
		}
	}
}

// positionTrials tries known mistakes in the positions: nothing is fitted but one factor.
func (c *checker) positionTrials(s *spec, f *fit) {
	if s.dim != f.dim || !c.known || c.axes != c.axesOf(s) || s.isStill() {
		return
	}
	for positions := range mistaken(c.data.Positions, c.axes) {
		other := *s
		other.structure, other.positions, other.faults = f.structure, positions, []Aspect{PositionsAspect}
		t := &trial{spec: &other, fit: f, angles: OtherAngles, tables: Float32Tables}
		if t.residual, t.factor = c.slackResidual(t, c.some); c.explains(t.residual) {
			c.trials = append(c.trials, c.explaining(c.try(&other, f, once))...)
		}
	}
}

// positionsFault says how positions differ: of some tokens, or by a known mistake.
func positionsFault(given, got []int32, axes int) string {
	if text := pattern(given, got, axes); text != "" {
		return text
	}
	n := len(given) / axes
	var tokens []int
	var others []int32
	for t := range n {
		for a := range axes {
			if got[a*n+t] != given[a*n+t] {
				tokens, others = append(tokens, t), append(others, got[a*n+t])
				break
			}
		}
	}
	if len(tokens) > 0 && slices.Max(others) == slices.Min(others) {
		s := ""
		if len(tokens) == 1 {
			s = "s"
		}
		return fmt.Sprintf("%s rotate%s by position %d.", plural("token", tokens), s, others[0])
	}
	if axes > 1 && len(tokens)*2 > n {
		return fmt.Sprintf("%s rotate by other positions, by which cannot be told.", plural("token", tokens))
	}
	return fmt.Sprintf("%s rotate by positions %s.", plural("token", tokens), positionsText(others))
}
