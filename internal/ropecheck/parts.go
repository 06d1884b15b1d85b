package ropecheck

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// misfit is where elements are not what a rotation makes of them.
type misfit struct {
	bad      []bool // [tokens][heads][elements]
	count    int
	residual float64
	moved    []bool // [tokens][heads]: the rotation moves the head
}

func (c *checker) misfit(s *spec, p predictor) *misfit {
	d := c.data
	m := &misfit{bad: make([]bool, len(d.After)), moved: make([]bool, d.Tokens*d.Heads)}
	left, energy := 0.0, 0.0
	want, most := make([]float64, d.HeadDim), make([]float64, d.HeadDim)
	for t := range d.Tokens {
		for h := range d.Heads {
			p(t, h, want, most)
			row, x, y := t*d.Heads+h, c.row(d.Before, t, h), c.row(d.After, t, h)
			m.moved[row] = s.isStill()
			for e := range want {
				off := float64(y[e]) - want[e]
				left, energy = left+off*off, energy+float64(y[e])*float64(y[e])
				if math.Abs(float64(x[e])-want[e]) > most[e] {
					m.moved[row] = true
				}
				if !(math.Abs(off) <= most[e]) {
					m.bad[row*d.HeadDim+e] = true
					m.count++
				}
			}
		}
	}
	m.residual = finite(math.Sqrt(left / max(energy, math.SmallestNonzeroFloat64)))
	return m
}

const (
	mostParts    = 6 // that are named
	mostElements = 8 // that are named one by one
	unknownCost  = 5 // of a part of which nothing is known
)

// partTrials tries that a candidate is right but for some heads, tokens or elements.
func (c *checker) partTrials() {
	if c.isPart {
		return
	}
	for _, s := range c.candidates {
		p := c.predictor(s, nil, 1, 1, nil)
		if p == nil {
			continue
		}
		m := c.misfit(s, p)
		if m.count == 0 {
			continue
		}
		texts, cost := c.parts(s, p, m)
		if len(texts) == 0 {
			continue
		}
		planted := *s
		c.trials = append(c.trials, &trial{
			spec: &planted, fit: c.heads.fit(s.structure, true), angles: OtherAngles, tables: Float32Tables,
			parts: texts, factor: 1, residual: c.typical(), explains: true, cost: cost,
		})
	}
}

// parts names the heads, tokens, rows and elements that are wrong, none where that is no explanation.
func (c *checker) parts(s *spec, p predictor, m *misfit) (texts []string, cost float64) {
	d := c.data
	if text := c.exchanged(p); text != "" {
		return []string{text}, faultCost + 0.1
	}
	count := func(t, h int) (n int) {
		for _, b := range m.bad[(t*d.Heads+h)*d.HeadDim:][:d.HeadDim] {
			if b {
				n++
			}
		}
		return n
	}
	dense, good := make([]bool, d.Tokens*d.Heads), 0
	counts := make([]int, d.Tokens*d.Heads)
	for t := range d.Tokens {
		for h := range d.Heads {
			row := t*d.Heads + h
			counts[row] = count(t, h)
			dense[row] = counts[row] > max(min(mostElements, s.dim/4), s.dim/8)
			if counts[row] == 0 && m.moved[row] {
				good++
			}
		}
	}
	moved := 0
	for _, b := range m.moved {
		if b {
			moved++
		}
	}
	// Elements that are wrong in nearly every row.
	columns := make([]int, d.HeadDim)
	for at, b := range m.bad {
		if b {
			columns[at%d.HeadDim]++
		}
	}
	if good < max(3, moved/20) {
		return c.columns(s, p, m, columns, 0, d.Heads)
	}
	done := make([]bool, d.Tokens*d.Heads)
	share := func(rows func(yield func(row int))) (bad, all int) {
		rows(func(row int) {
			if !done[row] && (m.moved[row] || dense[row]) {
				all++
				if dense[row] {
					bad++
				}
			}
		})
		return bad, all
	}
	var heads, tokens []int
	for h := range d.Heads {
		if bad, all := share(func(yield func(int)) {
			for t := range d.Tokens {
				yield(t*d.Heads + h)
			}
		}); bad >= 2 && bad*10 >= all*6 && d.Heads > 1 {
			heads = append(heads, h)
		}
	}
	if len(heads) == d.Heads { // then tokens may be what differs
		heads = nil
	}
	for _, h := range heads {
		for t := range d.Tokens {
			done[t*d.Heads+h] = true
		}
	}
	cost = faultCost + 0.1
	say := func(text string, more float64) { texts, cost = append(texts, text), cost+more }
	for t := range d.Tokens {
		if bad, all := share(func(yield func(int)) {
			for h := range d.Heads {
				yield(t*d.Heads + h)
			}
		}); bad > 0 && bad*10 >= all*6 && (d.Heads > 1 || bad == all) {
			tokens = append(tokens, t)
		}
	}
	for _, t := range tokens {
		for h := range d.Heads {
			done[t*d.Heads+h] = true
		}
	}
	if len(tokens)*4 > d.Tokens*3 {
		cost += structureCost
	}
	if len(heads) > 0 {
		say(c.partText(s, plural("head", heads), slices.DeleteFunc(slices.Clone(c.all), func(t int) bool { return slices.Contains(tokens, t) }), heads))
	}
	if len(tokens) > 0 {
		cost += 0.3
		var rest []int
		for h := range d.Heads {
			if !slices.Contains(heads, h) {
				rest = append(rest, h)
			}
		}
		text, more := c.partText(s, plural("token", tokens), tokens, rest)
		if more == unknownCost && len(rest) == d.Heads && c.farthest(tokens) {
			more += structureCost // other frequencies, which near tokens do not tell
		}
		say(text, more)
	}
	// Single rows, and single elements.
	rows, elements := 0, 0
	want, most := make([]float64, d.HeadDim), make([]float64, d.HeadDim)
	for t := range d.Tokens {
		for h := range d.Heads {
			row := t*d.Heads + h
			switch {
			case done[row] || counts[row] == 0:
			case dense[row]:
				if rows++; rows <= mostParts {
					say(c.partText(s, fmt.Sprintf("Token %d, head %d", t, h), []int{t}, []int{h}))
				}
			default:
				p(t, h, want, most)
				for e, b := range m.bad[row*d.HeadDim:][:d.HeadDim] {
					if !b {
						continue
					}
					if elements++; elements <= mostElements {
						texts = append(texts, fmt.Sprintf("Token %d, head %d: element %d is %s, and the rotation makes %s.", t, h, e, number(float64(c.row(d.After, t, h)[e])), number(want[e])))
					}
				}
			}
		}
	}
	if rows > mostParts {
		texts = append(texts, fmt.Sprintf("%d more heads of single tokens differ.", rows-mostParts))
	}
	if elements > mostElements {
		// Of a head, the same elements in all tokens?
		for h := range d.Heads {
			clear(columns)
			n := 0
			for t := range d.Tokens {
				row := t*d.Heads + h
				for e, b := range m.bad[row*d.HeadDim:][:d.HeadDim] {
					if b && !done[row] {
						columns[e]++
						n++
					}
				}
			}
			if n == elements && len(heads) == 0 && len(tokens) == 0 {
				return c.columns(s, p, m, columns, h, h+1)
			}
		}
		if len(heads) == 0 && len(tokens) == 0 && rows == 0 {
			return c.columns(s, p, m, columns, 0, d.Heads)
		}
		texts = append(texts, fmt.Sprintf("%d more elements differ.", elements-mostElements))
		cost += solvedCost
	}
	return texts, cost
}

// farthest reports whether all others have lower positions than some tokens.
func (c *checker) farthest(tokens []int) bool {
	least, most := int32(math.MaxInt32), int32(math.MinInt32)
	for i, p := range c.data.Positions {
		if slices.Contains(tokens, i%c.data.Tokens) {
			least = min(least, p)
		} else {
			most = max(most, p)
		}
	}
	return least > most
}

// columns names elements that are wrong in most tokens of some heads.
func (c *checker) columns(s *spec, p predictor, m *misfit, columns []int, first, end int) (texts []string, cost float64) {
	d := c.data
	var elements []int
	hit := 0
	for e, n := range columns {
		if n*2 > d.Tokens*(end-first) {
			elements = append(elements, e)
			hit += n
		}
	}
	if len(elements) == 0 || hit*10 < m.count*8 || len(elements)*2 > d.HeadDim && len(elements) != d.HeadDim-s.dim {
		return nil, 0
	}
	zero, unchanged := true, true
	var xy, xx, yy float64
	want, most := make([]float64, d.HeadDim), make([]float64, d.HeadDim)
	for t := range d.Tokens {
		for h := first; h < end; h++ {
			p(t, h, want, most)
			x, y := c.row(d.Before, t, h), c.row(d.After, t, h)
			for _, e := range elements {
				zero, unchanged = zero && y[e] == 0, unchanged && y[e] == x[e]
				xy, xx, yy = xy+want[e]*float64(y[e]), xx+want[e]*want[e], yy+float64(y[e])*float64(y[e])
			}
		}
	}
	if unchanged { // elements that turn too little to be wrong everywhere
		elements = elements[:0]
		for e, n := range columns {
			all := n > 0
			for t := 0; all && t < d.Tokens; t++ {
				for h := first; h < end; h++ {
					all = all && c.row(d.After, t, h)[e] == c.row(d.Before, t, h)[e]
				}
			}
			if all {
				elements = append(elements, e)
			}
		}
	}
	where := plural("element", elements)
	if end-first < d.Heads {
		where = fmt.Sprintf("Head %d, %s", first, strings.ToLower(where[:1])+where[1:])
	}
	are := "are"
	if len(elements) == 1 {
		are = "is"
	}
	g := xy / max(xx, math.SmallestNonzeroFloat64)
	switch {
	case zero:
		return []string{fmt.Sprintf("%s: %s zero in all tokens.", where, are)}, faultCost + 0.1
	case unchanged && end-first == d.Heads:
		if pairs := wholePairs(s, elements); pairs != nil {
			do := "do"
			if len(pairs) == 1 {
				do = "does"
			}
			return []string{fmt.Sprintf("%s %s not rotate.", plural("pair", pairs), do)}, faultCost + 0.1
		}
		return []string{fmt.Sprintf("%s: %s left as before.", where, are)}, faultCost + 0.2
	case unchanged:
		return []string{fmt.Sprintf("%s: %s left as before.", where, are)}, faultCost + 0.2
	case math.Abs(g-1) > 0.01 && yy-g*xy < 1e-4*yy:
		return []string{fmt.Sprintf("%s: %s multiplied by %s.", where, are, number(g))}, faultCost + 0.2
	case end-first < d.Heads:
		return []string{fmt.Sprintf("%s: %s not what the rotation makes.", where, are)}, faultCost + 0.5
	}
	return nil, 0
}

// wholePairs are the pairs of which elements are, nil where some are of no pair.
func wholePairs(s *spec, elements []int) (pairs []int) {
	for i := range s.dim / 2 {
		in, _ := s.pair(i)
		if slices.Contains(elements, in[0]) || slices.Contains(elements, in[1]) {
			pairs = append(pairs, i)
		}
	}
	if len(elements)*4 < len(pairs)*7 {
		return nil
	}
	return pairs
}

// chosen are most of a list.
func chosen(list []int, most int) []int {
	var some []int
	for _, i := range spread(len(list), most, 0) {
		some = append(some, list[i])
	}
	return some
}

func plural(noun string, list []int) string {
	return capital(Plural(noun, len(list))) + " " + RangesText(list)
}

func pluralAre(noun string, list []int) string {
	if len(list) == 1 {
		return plural(noun, list) + " is"
	}
	return plural(noun, list) + " are"
}

// partText says what was done to some heads of some tokens.
func (c *checker) partText(s *spec, where string, tokens, heads []int) (text string, cost float64) {
	zero := true
	for _, t := range tokens {
		for _, h := range heads {
			zero = zero && !slices.ContainsFunc(c.row(c.data.After, t, h), func(v float32) bool { return v != 0 })
		}
	}
	if zero {
		return where + ": all elements are zero.", 0
	}
	if len(tokens)*len(heads)*c.data.HeadDim > largeElements {
		tokens, heads = chosen(tokens, sampleTokens), chosen(heads, sampleHeads)
	}
	sub := c.rows(tokens, heads)
	sub.Type = c.kind
	of := *s
	of.candidate = 0
	part := &checker{data: &sub, axes: c.axes, candidates: []*spec{&of}, isPart: true}
	result := part.report().Candidates[0]
	var texts []string
	for _, f := range result.Faults {
		texts = append(texts, f.Text)
	}
	if len(part.trials) == 0 {
		cost = unknownCost // as of heads that are zero before
	} else if best := part.trials[0]; best.fit != nil && (best.invFreq == nil || best.candidate < 0 && best.base == 0) {
		cost = unknownCost
	}
	if len(texts) == 0 {
		cost = unknownCost
		texts = append(texts, fmt.Sprintf("these are not what the rotation makes (residual %s), and the cause is not known.", brief(result.Residual)))
	}
	return where + ": " + strings.Join(texts, " "), cost
}

// exchanged says which heads, or tokens, hold what belongs to others. "" means that this is not so.
func (c *checker) exchanged(p predictor) string {
	d := c.data
	want, most := make([]float64, d.HeadDim), make([]float64, d.HeadDim)
	// holds reports whether a row after is what belongs to another.
	holds := func(t, h, ot, oh int) bool {
		p(ot, oh, want, most)
		for e, y := range c.row(d.After, t, h) {
			if !(math.Abs(float64(y)-want[e]) <= most[e]-c.bound(ot, oh, e)+c.bound(t, h, e)) {
				return false
			}
		}
		return true
	}
	find := func(n int, same func(a, b int) bool) (from []int) {
		from = make([]int, n)
		others := 0
		for a := range n {
			from[a] = -1
			if same(a, a) {
				from[a] = a
				continue
			}
			for b := range n {
				if b != a && same(a, b) {
					from[a] = b
					others++
					break
				}
			}
			if from[a] < 0 {
				return nil
			}
		}
		if others == 0 {
			return nil
		}
		return from
	}
	text := func(noun string, from []int) string {
		var moved, of []int
		for a, b := range from {
			if a != b {
				moved, of = append(moved, a), append(of, b)
			}
		}
		switch {
		case len(moved) == 2 && moved[0] == of[1] && moved[1] == of[0]:
			return fmt.Sprintf("%ss %d and %d are exchanged.", capital(noun), moved[0], moved[1])
		case slices.Max(of) == slices.Min(of):
			return fmt.Sprintf("%s: what belongs to %s %d.", plural(noun, moved), noun, of[0])
		}
		return fmt.Sprintf("%s: what belongs to %s %s.", plural(noun, moved), Plural(noun, len(of)), list(of))
	}
	const least = 3
	if n := d.Heads; n > 1 && n <= 256 {
		tokens := c.all
		if len(tokens) > least {
			tokens = []int{1, len(tokens) / 2, len(tokens) - 1}
		}
		if from := find(n, func(a, b int) bool {
			return !slices.ContainsFunc(tokens, func(t int) bool { return !holds(t, a, t, b) })
		}); from != nil {
			return text("head", from)
		}
	}
	if n := d.Tokens; n > 1 && n <= 256 {
		if from := find(n, func(a, b int) bool {
			for h := range min(least, d.Heads) {
				if !holds(a, h, b, h) {
					return false
				}
			}
			return true
		}); from != nil {
			return text("token", from)
		}
	}
	return ""
}

// list names indices in their order.
func list(indices []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(indices), " ", ", "), "[]")
}
