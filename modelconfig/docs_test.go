package modelconfig

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
)

var update = flag.Bool("update", false, "write the tables of docs/models.md and testdata/digests.txt anew")

const models = "../docs/models.md"

func familyTable() string {
	var b strings.Builder
	b.WriteString("| model_type | pairs | rotated | base | layers that rotate | axes |\n|---|---|---|---|---|---|\n")
	for _, name := range sortedKeys(families) {
		f := families[name]
		pairs := map[posenc.Layout]string{
			posenc.HalfSplit: "half-split", posenc.Interleaved: "interleaved", posenc.InterleavedToHalfSplit: "interleaved to half-split",
		}[f.layout]
		if f.layoutKey != "" {
			pairs += ", by " + f.layoutKey
		}
		rotated := "whole head"
		switch {
		case f.latent:
			rotated = fmt.Sprintf("qk_rope_head_dim (%d)", f.headDim)
		case f.rotaryDim != 0:
			rotated = fmt.Sprintf("rotary_dim (%d)", f.rotaryDim)
		case f.trailing:
			rotated = fmt.Sprintf("tail, partial_rotary_factor (%v)", f.partial)
		case !f.wholeHead:
			rotated = fmt.Sprintf("partial_rotary_factor (%v)", f.partial)
		}
		var bases []string
		for _, k := range f.kinds {
			bases = append(bases, fmt.Sprintf("%s: %.0f", k.layerType, k.base))
		}
		if bases == nil {
			bases = []string{fmt.Sprintf("%.0f", f.base)}
		}
		if bases[0] == "0" {
			bases[0] = "by its key"
		}
		r := &reader{keys: object{}}
		n := 0
		layers := f.plan(r, f.layers)
		for _, layer := range layers {
			if layer.Rotates {
				n++
			}
		}
		rotating := fmt.Sprintf("%d of %d", n, len(layers))
		switch n {
		case len(layers):
			rotating = "all"
		case 0:
			rotating = "by its keys"
		}
		axes := "1"
		switch {
		case f.axes != nil && f.sections == nil:
			axes = "by sections"
		case f.axes != nil:
			axes = fmt.Sprintf("3 %v", f.sections)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", name, pairs, rotated, strings.Join(bases, "<br>"), rotating, axes)
	}
	return b.String()
}

func wrapperTable() string {
	var b strings.Builder
	b.WriteString("| model_type | key | text model where it does not say |\n|---|---|---|\n")
	for _, name := range sortedKeys(wrappers) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, wrappers[name].key, wrappers[name].innerType)
	}
	return b.String()
}

func towerTable(t *testing.T) string {
	holders := map[string][]string{}
	for _, name := range sortedKeys(visionWrappers) {
		inner := visionWrappers[name].innerType
		holders[inner] = append(holders[inner], name)
	}
	orders := map[string]string{
		"00001111": "rows, then columns", "11110000": "columns, then rows", "10101010": "columns and rows alternately",
	}
	var b strings.Builder
	b.WriteString("| model_type | pairs | order of pairs | elements of a head | held by |\n|---|---|---|---|---|\n")
	for _, name := range sortedKeys(towers) {
		f := towers[name]
		pairs, order := "half-split", "within each half of a head: not one rotation"
		if f.layout == posenc.Interleaved {
			pairs = "interleaved"
		}
		if f.arrangement != nil {
			ladder, err := f.arrangement(16, 1e4, frequency.Exact)
			if err != nil {
				t.Fatal(err)
			}
			order = orders[strings.Trim(strings.ReplaceAll(fmt.Sprint(ladder.Axes), " ", ""), "[]")]
			if order == "" {
				t.Fatalf("%s: no words for axes %v", name, ladder.Axes)
			}
			if order == "rows, then columns" && ladder.InvFreq[4] != ladder.InvFreq[0] {
				order += ", with the even and the odd frequencies of a head"
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %s |\n", name, pairs, order, f.hidden/f.heads, strings.Join(holders[name], ", "))
	}
	return b.String()
}

func notRotaryTable() string {
	byReason := map[string][]string{}
	for _, name := range sortedKeys(notRotary) {
		byReason[notRotary[name]] = append(byReason[notRotary[name]], name)
	}
	var b strings.Builder
	b.WriteString("| positions | model_type |\n|---|---|\n")
	for _, reason := range sortedKeys(byReason) {
		fmt.Fprintf(&b, "| %s | %s |\n", reason, strings.Join(byReason[reason], ", "))
	}
	return b.String()
}

// The tables of docs/models.md that the code holds are the code's.
func TestDocs(t *testing.T) {
	data, err := os.ReadFile(models)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, table := range []struct{ name, want string }{
		{"families", familyTable()}, {"wrappers", wrapperTable()}, {"towers", towerTable(t)}, {"not rotary", notRotaryTable()},
	} {
		start, end := "<!-- table: "+table.name+" -->\n", "<!-- end -->"
		i := strings.Index(text, start)
		if i < 0 {
			t.Fatalf("no table %s", table.name)
		}
		i += len(start)
		length := strings.Index(text[i:], end)
		if length < 0 {
			t.Fatalf("table %s has no end", table.name)
		}
		if text[i:i+length] != table.want {
			if !*update {
				t.Errorf("table %s is not the code's; go test ./modelconfig -run TestDocs -update", table.name)
			}
			text = text[:i] + table.want + text[i+length:]
		}
	}
	if *update {
		if err := os.WriteFile(models, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	// Each rule with its keys, and each trap with the name of its test.
	for ropeType, keys := range ropeTypes {
		line := lineWith(text, "| `"+ropeType+"` |")
		for _, key := range keys {
			if !strings.Contains(line, "`"+key+"`") {
				t.Errorf("rule %s: no key %s in %q", ropeType, key, line)
			}
		}
	}
	for _, trap := range traps {
		if lineWith(text, "| `TestTrap/"+trap.name+"` |") == "" {
			t.Errorf("no line for TestTrap/%s", trap.name)
		}
	}
	for _, part := range strings.Split(text, "`TestTrap/")[1:] {
		name, _, _ := strings.Cut(part, "`")
		if !slices.ContainsFunc(traps, func(trap struct {
			name string
			test func(t *testing.T)
		}) bool {
			return trap.name == name
		}) {
			t.Errorf("no test TestTrap/%s", name)
		}
	}
}

// The traps of GGUF files in docs/models.md are those of TestTrapGGUF.
func TestDocsGGUF(t *testing.T) {
	text, err := os.ReadFile(models)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("gguf_test.go")
	if err != nil {
		t.Fatal(err)
	}
	names := func(text, start, end string) []string {
		var names []string
		for _, part := range strings.Split(text, start)[1:] {
			name, _, _ := strings.Cut(part, end)
			names = append(names, strings.ReplaceAll(name, " ", "_"))
		}
		return names
	}
	_, traps, found := strings.Cut(string(source), "func TestTrapGGUF(")
	traps, _, closed := strings.Cut(traps, "\n}\n")
	if !found || !closed {
		t.Fatal("no TestTrapGGUF in gguf_test.go")
	}
	if got, want := names(string(text), "`TestTrapGGUF/", "`"), names(traps, "\tt.Run(\"", "\""); !slices.Equal(got, want) {
		t.Errorf("docs/models.md has %q, TestTrapGGUF %q", got, want)
	}
}

func lineWith(text, part string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return line
		}
	}
	return ""
}
