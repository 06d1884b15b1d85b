package ropecheck

import (
	"cmp"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/modelconfig"
)

// Rotation is how a model rotates the layers of one kind, in sequences of one length.
type Rotation struct {
	Name           string
	Exact, Float32 posenc.RotaryConfig // with modelconfig.RopeOptions of this Rounding
	Rule           modelconfig.Rule
}

// CheckModel is Check with the rotations of a model, which are the first candidates of the report.
// Frequencies of scaling rules have roundings of their own in engines that make them in float32, as
// transformers does: each candidate has the ones that come nearer, and float32Steps names those
// that have them. Where frequencies are wrong, the rule read wrong is tried.
func CheckModel(data Data, rotations ...Rotation) (report *Report, float32Steps []string, err error) {
	var list, steps []Candidate
	var of []int // the number of each of steps in list
	for i := range rotations {
		r := &rotations[i]
		list = append(list, r.candidate(r.Exact))
		if r.hasSteps() {
			steps, of = append(steps, r.candidate(r.Float32)), append(of, i)
		}
	}
	if err = data.check(); err != nil {
		return nil, nil, err
	}
	if len(steps) > 0 {
		c, err := newChecker(&data, append(slices.Clone(list), steps...))
		if err != nil {
			return nil, nil, err
		}
		report, _ = c.search()
		for i, c := range report.Candidates[len(list):] {
			if c.nearer(&report.Candidates[of[i]]) {
				list[of[i]] = steps[i]
				float32Steps = append(float32Steps, c.Name)
			}
		}
	}
	c, err := newChecker(&data, list)
	if err != nil {
		return nil, nil, err
	}
	return c.run(), float32Steps, nil
}

// Best returns the index of the candidate that comes nearest of those that are meant: the first that
// agrees, else the one of the least residual; -1 where none is meant.
func (r *Report) Best(meant []bool) int {
	best := -1
	for i := range meant {
		c := &r.Candidates[i]
		if b := max(best, 0); meant[i] && (best < 0 || cmp.Or(cmp.Compare(c.rank(), r.Candidates[b].rank()), cmp.Compare(c.Residual, r.Candidates[b].Residual)) < 0) {
			best = i
		}
	}
	return best
}

// rank orders verdicts, the nearest first.
func (c *Comparison) rank() int {
	return slices.Index([]Verdict{Agrees, Noisy, NotDecidable, Differs}, c.Verdict)
}

func (c *Comparison) nearer(other *Comparison) bool {
	if c.rank() != other.rank() {
		return c.rank() < other.rank()
	}
	if len(c.Arithmetics) == 0 || len(other.Arithmetics) == 0 {
		return len(c.Arithmetics) > len(other.Arithmetics)
	}
	return c.Arithmetics[0].Typical < other.Arithmetics[0].Typical
}

func (r *Rotation) candidate(config posenc.RotaryConfig) Candidate {
	c := Candidate{Name: r.Name, Config: config, Readings: readings(r.Name, r.Rule, r.Exact.InvFreq)}
	if r.Rule.Base > 1 {
		c.Base = r.Rule.Base
	}
	return c
}

// hasSteps reports whether the frequencies of float32 are others than the exact ones rounded.
func (r *Rotation) hasSteps() bool {
	for i, w := range r.Float32.InvFreq {
		if float32(w) != float32(r.Exact.InvFreq[i]) {
			return true
		}
	}
	return false
}
