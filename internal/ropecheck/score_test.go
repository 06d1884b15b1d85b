package ropecheck_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/go-posenc/posenc/internal/test/exhaustive"
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
	cache      *cache
}

func (c *scored) String() string {
	name := "right"
	if c.fault != nil {
		name = c.fault.name
	}
	text := fmt.Sprintf("%s/%s/%v/%s/%d", c.layer.name, name, c.kind, c.arithmetic.name, c.layer.prompt)
	if c.cache != nil {
		text += fmt.Sprintf("/%+v", *c.cache)
	}
	return text
}

// check returns the outcome; ok is false where the layer cannot have the fault, or the data cannot
// show it.
func (c *scored) check(seed uint64) (o outcome, r *ropecheck.Report, words string, ok bool) {
	e := newPort(c.layer, c.kind, c.arithmetic)
	e.truncate, e.cache = c.arithmetic.truncate, c.cache
	d := e.data(seed)
	if c.fault != nil {
		if words = c.fault.plant(e); words == "" {
			return 0, nil, "", false
		}
		if c.layer.still && !slices.Contains([]ropecheck.Aspect{ropecheck.PartAspect, ropecheck.ScaleAspect}, c.fault.cause) {
			words = "(?i)the candidate does not rotate|multiplied by|are zero"
		}
		if c.layer.still { // before and after it are the same
			words = regexp.MustCompile("rms with weights, (after the rotation|times)").ReplaceAllString(words, "rms with weights")
		}
		right := d
		d = e.data(seed)
		if residual := difference(d.After, right.After); residual < 30*c.kind.Floor() || !shows(&d, &right) || c.fault.cause == ropecheck.RoundingAspect && residual < 300*c.kind.Floor() {
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

// shows reports whether codes tell heads from the right ones: some number of the cache is several steps off.
func shows(d, right *ropecheck.Data) bool {
	if d.Stored == nil {
		return true
	}
	for i, y := range d.After {
		if off := math.Abs(float64(y) - float64(right.After[i])); off > 4*float64(d.Stored.Errors[i]+right.Stored.Errors[i]) {
			return true
		}
	}
	return false
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
// engines; and a tenth of the faults, with right engines, in each format of a cache.
func cases() (list []scored) {
	hows, causes := arithmetics(), faults()
	for n, l := range layersToTest() {
		for _, kind := range []ropecheck.ElementType{ropecheck.Float32, ropecheck.Float16, ropecheck.BFloat16} {
			for _, how := range hows {
				if how.kinds == nil || slices.Contains(how.kinds, kind) {
					for l.prompt = range prompts {
						if l.prompt == neighbours || l.axes == nil && (l.xpos == nil || l.prompt != longSequence) {
							list = append(list, scored{l, nil, kind, how, nil})
						}
					}
					l.prompt = neighbours
				}
			}
			for i := range causes {
				const turns = 4 // of the first arithmetics
				list = append(list, scored{l, &causes[i], kind, hows[(n+i+int(kind))%turns], nil})
			}
		}
		for k, cache := range caches() {
			if l.headDim%32 != 0 {
				continue // no blocks of Q8_0
			}
			for l.prompt = range prompts {
				if l.prompt == neighbours || l.axes == nil && (l.xpos == nil || l.prompt != longSequence) {
					list = append(list, scored{l, nil, ropecheck.ElementType((n + k) % 3), hows[0], &cache})
				}
			}
			l.prompt = neighbours
			for i := range causes {
				if (n+i+k)%10 == 0 {
					list = append(list, scored{l, &causes[i], ropecheck.ElementType((n + i) % 3), hows[0], &cache})
				}
			}
		}
	}
	return list
}

// score counts outcomes by cause.
type score struct {
	mutex  sync.Mutex
	counts map[ropecheck.Aspect]*[outcomes]int
	others []string // what was not exact
}

var outcomeNames = [outcomes]string{"exact", "vague", "wrong", "missed", "accused"}

// add checks a case.
func (s *score) add(c *scored, seed uint64) (o outcome, ok bool) {
	o, r, words, ok := c.check(seed)
	if !ok {
		return 0, false
	}
	cause := ropecheck.Aspect("no fault")
	if c.fault != nil {
		cause = cmp.Or(c.fault.cause, "two faults")
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.counts[cause] == nil {
		s.counts[cause] = new([outcomes]int)
	}
	s.counts[cause][o]++
	if o != exact {
		got := r.Candidates[0]
		s.others = append(s.others, fmt.Sprintf("%s: %v\n\twant %s\n\t%s: %s", outcomeNames[o], c, words, got.Verdict, got.Text))
	}
	return o, true
}

// report logs the score, and checks it: nothing missed, nobody accused, and of many faults 97 of 100
// named exactly.
func (s *score) report(t *testing.T) {
	var sum [outcomes]int
	text := fmt.Sprintf("| cause | %s |\n|---|---|---|---|---|---|\n", strings.Join(outcomeNames[:], " | "))
	line := func(name string, n *[outcomes]int) {
		text += fmt.Sprintf("| %s | %d | %d | %d | %d | %d |\n", name, n[exact], n[vague], n[wrong], n[missed], n[accused])
	}
	for _, cause := range slices.Sorted(maps.Keys(s.counts)) {
		line(string(cause), s.counts[cause])
		for o, n := range s.counts[cause] {
			sum[o] += n
		}
	}
	line("all", &sum)
	for _, other := range s.others {
		t.Log(other)
	}
	t.Log("\n" + text)
	if all := sum[exact] + sum[vague] + sum[wrong]; sum[missed] > 0 || sum[accused] > 0 || (sum[vague]+sum[wrong])*100 > 3*all+100 {
		t.Errorf("%d of %d exact, %d missed, %d accused, want 97 of 100, 0 and 0", sum[exact], all, sum[missed], sum[accused])
	}
}

// TestFaults takes a sample of the cases, and TestExhaustiveFaults all.
func TestFaults(t *testing.T) {
	s, list := score{counts: map[ropecheck.Aspect]*[outcomes]int{}}, cases()
	for i := 0; i < len(list); i += 601 {
		s.add(&list[i], uint64(i))
	}
	s.report(t)
}

// TestExhaustiveFaults prints the score of docs/command.md.
func TestExhaustiveFaults(t *testing.T) {
	exhaustive.SkipUnlessAsked(t)
	s, list := score{counts: map[ropecheck.Aspect]*[outcomes]int{}}, cases()
	if len(faults()) < 100 || len(layersToTest()) < 33 {
		t.Errorf("%d kinds of faults in %d kinds of layers", len(faults()), len(layersToTest()))
	}
	exhaustive.Run(t, exhaustive.Leg{Name: "faults", Blocks: len(list), Counts: outcomeNames[:], Worker: func(*testing.T) func(int, []int64) {
		return func(i int, counts []int64) {
			if o, ok := s.add(&list[i], uint64(i)); ok {
				counts[o]++
			}
		}
	}})
	s.report(t)
}
