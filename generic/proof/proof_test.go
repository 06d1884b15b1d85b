// Package proof holds the proof of the error bounds of generic and the kernels:
// see README.md. Its tests tie the scripts to the code and to one another.
package proof

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

var (
	assignment = regexp.MustCompile(`(?m)^\s*(?:const )?(\w+) += (-?(?:0x[0-9a-f.]+p[-+]?\d+|\d+))\b`)
	list       = regexp.MustCompile(`(?m)^\s*(\w+) += \[\]float64\{([^}]*)\}`)
)

// constants returns the float64 values of the constants, and of the lists of
// constants as name0, name1, ..., that Go files define.
func constants(t *testing.T, files ...string) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	set := func(name, value string) {
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		values[name] = v
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range assignment.FindAllStringSubmatch(string(text), -1) {
			set(m[1], m[2])
		}
		for _, m := range list.FindAllStringSubmatch(string(text), -1) {
			for i, value := range strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
				set(fmt.Sprint(m[1], i), value)
			}
		}
	}
	return values
}

var (
	comment    = regexp.MustCompile(`(?m)#.*$`)
	definition = regexp.MustCompile(`\b(\w+) = (-?(?:0x[0-9a-f.]+p[-+]?\d+|\d+));`)
	bound      = regexp.MustCompile(`\|([^|]+)\| <= (0x[0-9a-f.]+p[-+]?\d+)`)
)

// script is the numbers that a Gappa script defines, and the bounds on
// magnitudes that it assumes and proves.
type script struct{ defined, assumed, proved map[string]float64 }

func read(t *testing.T, name string) script {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text = comment.ReplaceAll(text, nil)
	formula := regexp.MustCompile(`(?s)\{(.*?)\n->\n(.*?)\n\}`).FindSubmatch(text)
	if formula == nil {
		t.Fatalf("%s: no formula", name)
	}
	collect := func(r *regexp.Regexp, text []byte) map[string]float64 {
		values := map[string]float64{}
		for _, m := range r.FindAllSubmatch(text, -1) {
			v, err := strconv.ParseFloat(string(m[2]), 64)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, m[0], err)
			}
			values[string(m[1])] = v
		}
		return values
	}
	return script{collect(definition, text), collect(bound, formula[1]), collect(bound, formula[2])}
}

// names pairs the constants of the scripts with those of generic and of the
// generator.
var names = func() map[string][2]string {
	pairs := map[string][2]string{
		"Margin":     {"Margin", "Margin"},
		"toInteger":  {"toInteger", "ToInteger"},
		"twoOverPi0": {"twoOverPi0", ""},
		"twoOverPi1": {"twoOverPi1", ""},
		"twoOverPi2": {"twoOverPi2", ""},
		"C0":         {"", "Cosine0"},

		"RoundedMargin": {"", "RoundedMargin"},
	}
	for i := range 7 {
		pairs[fmt.Sprint("S", i)] = [2]string{fmt.Sprint("sin", i), fmt.Sprint("Sine", i)}
		if i > 0 {
			pairs[fmt.Sprint("C", i)] = [2]string{fmt.Sprint("cos", i), fmt.Sprint("Cosine", i)}
		}
	}
	return pairs
}()

// Every number that a script defines is that of generic and that of the
// generator of the kernels.
func TestConstants(t *testing.T) {
	if _, err := os.Stat("../../asm/_gen"); err != nil {
		t.Skip("NOT TESTED: the generator is in the repository, not in the module's zip")
	}
	inGeneric := constants(t, "../cossin.go", "../constants.go")
	inGenerator := constants(t, "../../asm/_gen/operation/constants.go")
	if inGeneric["twoOverPiHigh"] != inGenerator["TwoOverPiHigh"] || inGeneric["twoOverPiLow"] != inGenerator["TwoOverPiLow"] {
		t.Error("2/pi for float32 angles differs between generic and the generator")
	}
	files, err := filepath.Glob("*.g")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	seen := map[string]bool{}
	for _, name := range files {
		for constant, value := range read(t, name).defined {
			pair, ok := names[constant]
			if !ok {
				t.Errorf("%s: %s is no constant of the code", name, constant)
			}
			seen[constant] = true
			if v, ok := inGeneric[pair[0]]; pair[0] != "" && (!ok || v != value) {
				t.Errorf("%s: %s is %x, in generic %x", name, constant, value, v)
			}
			if v, ok := inGenerator[pair[1]]; pair[1] != "" && (!ok || v != value) {
				t.Errorf("%s: %s is %x, in the generator %x", name, constant, value, v)
			}
		}
	}
	for constant := range names {
		if !seen[constant] {
			t.Errorf("no script defines %s", constant)
		}
	}
}

// What one script or test proves is what the next assumes.
func TestBounds(t *testing.T) {
	turns, cossin, small := read(t, "quarterturns.g"), read(t, "cossin.g"), read(t, "small.g")
	shift, smallShift := read(t, "shift.g"), read(t, "smallshift.g")
	rounded, rounded3, smallRounded := read(t, "rounded.g"), read(t, "rounded3.g"), read(t, "smallrounded.g")
	reach := constants(t, "../../kernels/constants.go")
	tested := constants(t, "../cossin_bound_test.go")
	const leastOddAngle = math.Pi / 4 * (1 - 0x1p-40) // of an angle that is not reduced to itself
	table := max(cossin.proved["c - cosT"], cossin.proved["s - sinT"])
	for _, link := range []struct {
		what            string
		proved, assumed float64
	}{
		{"high", turns.proved["(high - W) / W"], min(cossin.assumed["(high - W) / W"], small.assumed["highRelative"])},
		{"high of float32 angles", tested["highRelative"], cossin.assumed["(high - W) / W"]},
		{"low", turns.proved["low / high"], cossin.assumed["low / high"]},
		{"low of float32 angles", tested["lowRelative"], cossin.assumed["low / high"]},
		{"turns", turns.proved["(turns - W) / W"], min(cossin.assumed["(turns - W) / W"], small.assumed["turnsRelative"])},
		{"turns of float32 angles", tested["turnsRelative"], cossin.assumed["(turns - W) / W"]},
		{"parts of 2/pi", tested["parts"], turns.assumed["parts - twoOverPi"]},
		{"sine polynomial", tested["sinRelative"], min(cossin.assumed["sinRelative"], small.assumed["sinRelative"])},
		{"cosine polynomial", tested["cosRelative"], cossin.assumed["cosRelative"]},
		{"range of the polynomials", cossin.proved["f"], tested["polynomialReach"]},
		{"cosine or sine of a or b", table, min(shift.assumed["cosA - COSA"], shift.assumed["sinA - SINA"], shift.assumed["cosB - COSB"], shift.assumed["sinB - SINB"])},
		{"cosine of a or b", table, min(smallShift.assumed["errorCosA"], smallShift.assumed["errorCosB"])},
		{"sine of a or b", max(small.proved["(s - sinT) / angle"], cossin.proved["c - cosT"]/leastOddAngle), min(smallShift.assumed["errorA"], smallShift.assumed["errorB"])},
		{"cosine or sine of an exact angle", max(shift.proved["xCos - C"], shift.proved["xSin - S"]), min(rounded.assumed["c - COSA"], rounded.assumed["s - SINA"], rounded3.assumed["c - COSA"], rounded3.assumed["s - SINA"])},
		{"sine of a small exact angle", smallShift.proved["x - S"], smallRounded.assumed["errorA"]},
		{"float32 angle", reach["roundedReach"] * 0x1p-25, rounded.assumed["d"]},
		{"larger float32 angle", reach["roundedReach3"] * 0x1p-25, rounded3.assumed["e"]},
	} {
		if !(link.proved > 0 && link.proved <= link.assumed) {
			t.Errorf("%s: proved %x, but assumed %x", link.what, link.proved, link.assumed)
		}
	}
}
