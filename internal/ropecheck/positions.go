package ropecheck

import (
	"fmt"
	"slices"
)

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
	for first := 1; first < tokens; first++ {
		if all(func(a, t int) bool { return t >= first || at(got, a, t) == at(given, a, t) }) &&
			(all(func(a, t int) bool { return t < first || at(got, a, t) == int32(t-first) }) ||
				all(func(a, t int) bool { return t < first || at(got, a, t) == at(given, a, t)-at(given, a, first) })) {
			return fmt.Sprintf("Positions restart at token %d.", first)
		}
	}
	return ""
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
	return fmt.Sprintf("%s rotate by positions %s.", plural("token", tokens), positionsText(others))
}
