package ropecheck

import (
	"cmp"
	"math"
	"slices"

	"github.com/go-posenc/posenc"
)

const (
	rankedElements = 1 << 16 // to which the ways of arithmetic are compared
	mostArithmetic = 6       // ways to round angles and tables, times those to round products
)

var roundedProducts = [...]Products{SeparateProducts, RoundedProducts, FusedFirst, FusedSecond, FusedCosSin}

// arithmetics compares the elements with those of a trial, computed in several ways, nearest
// first; none where heads were scaled on the way, too, in an order that is not known.
func (c *checker) arithmetics(t *trial) []Arithmetic {
	if !t.isPlain() || c.data.Stored != nil || c.norm != NoNorm || c.found.freedom != oneFactor && t.xpos == nil || t.times == 2 && t.layout > posenc.Interleaved {
		return nil
	}
	if t.arithmetics != nil {
		return t.arithmetics
	}
	s := *t.spec
	if !c.isOne(t.factor) {
		s.factor *= math.Pow(t.factor, 1/float64(t.times))
	}
	type way struct {
		angles   Angles
		tables   Tables
		residual float64
	}
	var ways []way
	for _, angles := range roundedAngles {
		cos, sin, ok := c.tables(&s, angles, c.some)
		if !ok {
			continue
		}
		for _, tables := range roundedTables {
			difference, _ := t.fit.against(applied(rotations(cos, sin, tables), &s), c.some, oneFactor, nil, 0)
			ways = append(ways, way{angles, tables, t.fit.residual(difference * t.fit.power)})
		}
	}
	slices.SortStableFunc(ways, func(a, b way) int { return cmp.Compare(a.residual, b.residual) })
	ways = ways[:min(len(ways), mostArithmetic)]

	tokens := c.all
	if row := c.data.Heads * s.dim; len(tokens)*row > rankedElements {
		n := max(4, rankedElements/row)
		if n < len(tokens) {
			tokens = nil
			for i := range n {
				tokens = append(tokens, c.all[i*len(c.all)/n])
			}
		}
	}
	var list []Arithmetic
	for _, w := range ways {
		cos, sin, _ := c.tables(&s, w.angles, tokens)
		for _, products := range roundedProducts {
			if products != RoundedProducts || c.kind != Float32 {
				list = append(list, c.compare(&s, Arithmetic{Angles: w.angles, Tables: w.tables, Products: products}, cos, sin, tokens))
			}
		}
	}
	slices.SortStableFunc(list, nearer)
	for i := range list {
		if a := &list[i]; i < 3 && len(tokens) < len(c.all) {
			cos, sin, _ := c.tables(&s, a.Angles, c.all)
			*a = c.compare(&s, *a, cos, sin, c.all)
		}
	}
	list = list[:min(len(list), 3)]
	slices.SortStableFunc(list, nearer)
	t.arithmetics = list
	return list
}

func nearer(a, b Arithmetic) int {
	return cmp.Or(cmp.Compare(a.Typical, b.Typical), cmp.Compare(b.Equal, a.Equal))
}

// compare sets how far the elements of some tokens are from a rotation.
func (c *checker) compare(s *spec, a Arithmetic, cos, sin []float32, tokens []int) Arithmetic {
	a.Equal, a.Typical, a.Largest = 0, 0, 0
	pairs, elements := s.dim/2, s.elementsOfPairs()
	equal, sum, count := 0, 0.0, 0
	for n, t := range tokens {
		for i := range elements {
			in, out := elements[i].in, elements[i].out
			cosine, sine := a.Tables.round(cos[n*pairs+i]), a.Tables.round(sin[n*pairs+i])
			if s.inverse {
				sine = -sine
			}
			for k := range c.data.Heads {
				at := (t*c.data.Heads + k) * c.data.HeadDim
				x1, x2 := c.heads.before[at+in[0]], c.heads.before[at+in[1]]
				for range s.times {
					x1, x2 = c.rotate(x1, x2, cosine, sine, a.Products)
				}
				y1, y2 := c.heads.after[at+out[0]], c.heads.after[at+out[1]]
				if x1 == y1 {
					equal++
				}
				if x2 == y2 {
					equal++
				}
				count += 2
				if x1 == y1 && x2 == y2 {
					continue
				}
				unit := c.kind.ulp(max(math.Abs(float64(x1)), math.Abs(float64(x2))))
				d1, d2 := math.Abs(float64(y1)-float64(x1))/unit, math.Abs(float64(y2)-float64(x2))/unit
				sum += d1*d1 + d2*d2
				a.Largest = max(a.Largest, d1, d2)
			}
		}
	}
	if count > 0 {
		a.Equal, a.Typical = float64(equal)/float64(count), finite(math.Sqrt(sum/float64(count)))
	}
	a.Largest = finite(a.Largest)
	return a
}

// rotate rotates a pair and rounds as one way does.
func (c *checker) rotate(x1, x2, cos, sin float32, products Products) (y1, y2 float32) {
	fma := func(a, b, z float32) float32 {
		return float32(math.FMA(float64(a), float64(b), float64(z)))
	}
	switch products {
	case FusedFirst:
		y1, y2 = fma(x1, cos, -float32(x2*sin)), fma(x2, cos, float32(x1*sin))
	case FusedSecond:
		y1, y2 = fma(-x2, sin, float32(x1*cos)), fma(x1, sin, float32(x2*cos))
	case FusedCosSin:
		y1, y2 = fma(x1, cos, -float32(x2*sin)), fma(x1, sin, float32(x2*cos))
	case RoundedProducts:
		r := c.kind.round
		y1, y2 = r(float32(x1*cos))-r(float32(x2*sin)), r(float32(x2*cos))+r(float32(x1*sin))
	default:
		y1, y2 = float32(x1*cos)-float32(x2*sin), float32(x2*cos)+float32(x1*sin)
	}
	return c.kind.round(y1), c.kind.round(y2)
}

// finite bounds a number, which JSON then has.
func finite(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return 0
	case x > math.MaxFloat64:
		return math.MaxFloat64
	case x < -math.MaxFloat64:
		return -math.MaxFloat64
	}
	return x
}
