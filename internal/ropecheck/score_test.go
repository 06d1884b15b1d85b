package ropecheck_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/go-posenc/posenc/internal/testkit"
)

// outcome is what a check said of a planted fault, or of a right engine.
type outcome int

const (
	exact   outcome = iota // the fault is named, and nothing else
	vague                  // the rotation differs, and the cause is not told
	wrong                  // another cause is named
	missed                 // the check passes
	accused                // the check does not pass, and the engine is right
	outcomes
)

// vagueWords are said where a cause is not known.
var vagueWords = regexp.MustCompile(`not known|none of a candidate|No hypothesis|are unknown|by pairs and positions|differ from pair to pair|cannot be told`)

// case of the score: a fault, or none, of an engine in one arithmetic.
type scored struct {
	layer      layer
	fault      *fault // nil: the engine is right
	kind       ropecheck.ElementType
	arithmetic arithmetic
}

func (c *scored) String() string {
	name := "right"
	if c.fault != nil {
		name = c.fault.name
	}
	return fmt.Sprintf("%s/%s/%v/%s", c.layer.name, name, c.kind, c.arithmetic.name)
}

// check returns the outcome; ok is false where the layer cannot have the fault, or the data cannot
// show it.
func (c *scored) check(seed uint64) (o outcome, r *ropecheck.Report, words string, ok bool) {
	e := newPort(c.layer, c.kind, c.arithmetic)
	e.truncate = c.arithmetic.truncate
	d := e.data(seed)
	if c.fault != nil {
		if words = c.fault.plant(e); words == "" {
			return 0, nil, "", false
		}
		if c.layer.still && !slices.Contains([]ropecheck.Aspect{ropecheck.PartAspect, ropecheck.ScaleAspect}, c.fault.cause) {
			words += "|the candidate does not rotate"
		}
		right := d.After
		d = e.data(seed)
		if residual := difference(d.After, right); residual < 30*c.kind.Floor() || c.fault.cause == ropecheck.RoundingAspect && residual < 300*c.kind.Floor() {
			return 0, nil, "", false
		}
	}
	r, _, err := ropecheck.CheckModel(d, c.layer.rotations()...)
	if err != nil {
		panic(fmt.Sprint(c, err))
	}
	got := r.Candidates[0]
	passes := got.Verdict == ropecheck.Agrees && len(got.Faults) == 0
	switch {
	case c.fault == nil && passes:
		return exact, r, words, true
	case c.fault == nil:
		return accused, r, words, true
	case passes:
		return missed, r, words, true
	}
	text := got.Text
	isNamed := !slices.ContainsFunc(strings.Split(words, " & "), func(part string) bool { return !regexp.MustCompile(part).MatchString(text) })
	aspects := map[ropecheck.Aspect]bool{}
	for _, f := range got.Faults {
		aspects[f.Aspect] = true
	}
	most := 1
	if c.fault.cause == "" || c.fault.cause == ropecheck.SliceAspect || strings.HasPrefix(c.fault.name, "each half") {
		most = 2 // other slices have other frequencies
	}
	switch {
	case isNamed && len(aspects) <= most && !vagueWords.MatchString(text):
		return exact, r, words, true
	case isNamed, len(aspects) == 0, vagueWords.MatchString(text), got.Verdict == ropecheck.NotDecidable:
		return vague, r, words, true
	}
	return wrong, r, words, true
}

// difference is relative.
func difference(a, b []float32) float64 {
	sum, all := 0.0, 0.0
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		sum, all = sum+d*d, all+float64(b[i])*float64(b[i])
	}
	return math.Sqrt(sum / all)
}

// cases are all faults in all layers and types, each in an arithmetic by turns, and all right
// engines.
func cases() (list []scored) {
	hows, causes, n := arithmetics(), faults(), 0
	for _, l := range layersToTest() {
		for _, kind := range []ropecheck.ElementType{ropecheck.Float32, ropecheck.Float16, ropecheck.BFloat16} {
			for _, how := range hows {
				if how.kinds == nil || slices.Contains(how.kinds, kind) {
					list = append(list, scored{l, nil, kind, how})
				}
			}
			for i := range causes {
				n++
				list = append(list, scored{l, &causes[i], kind, hows[n%4]})
			}
		}
	}
	return list
}

// TestScore plants faults: the score by cause is in docs/command.md. POSENC_ROUNDS=all takes all.
func TestScore(t *testing.T) {
	list := cases()
	step := 97
	if testkit.AllRounds() {
		step = 1
	}
	if s := os.Getenv("TRUTH_STEP"); s != "" {
		step, _ = strconv.Atoi(s)
	}
	only := regexp.MustCompile(os.Getenv("TRUTH_ONLY"))
	score, kinds := map[ropecheck.Aspect]*[outcomes]int{}, map[string]bool{}
	for i := 0; i < len(list); i += step {
		c := &list[i]
		if !only.MatchString(c.String()) {
			continue
		}
		o, r, words, ok := c.check(uint64(i))
		if !ok {
			continue
		}
		cause := ropecheck.Aspect("none")
		if c.fault != nil {
			cause = c.fault.cause
			kinds[c.fault.name] = true
		}
		if cause == "" {
			cause = "two"
		}
		if score[cause] == nil {
			score[cause] = new([outcomes]int)
		}
		score[cause][o]++
		if o != exact {
			var other []string
			for _, f := range r.Candidates[0].Faults {
				other = append(other, f.Text)
			}
			t.Logf("%s: %v\n  want %s\n  %s %s\n", [...]string{"exact", "vague", "wrong", "missed", "accused"}[o], c, words, r.Candidates[0].Verdict, strings.TrimSpace(r.Candidates[0].Text))
			if os.Getenv("TRUTH_REPORT") != "" {
				t.Log(r)
			}
		}
	}
	var sum [outcomes]int
	text := "cause         exact  vague  wrong missed accused\n"
	line := func(name string, n *[outcomes]int) {
		text += fmt.Sprintf("%-12s %6d %6d %6d %6d %7d\n", name, n[exact], n[vague], n[wrong], n[missed], n[accused])
	}
	for _, cause := range slices.Sorted(maps.Keys(score)) {
		line(string(cause), score[cause])
		for o, n := range score[cause] {
			sum[o] += n
		}
	}
	line("all", &sum)
	t.Logf("%d kinds of faults\n%s", len(kinds), text)
}
