package modelconfig

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/modelconfig/internal/huggingface"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

const (
	modelsPage = "../docs/models.md"
	trapsPage  = "../docs/traps.md"
	keysPage   = "../docs/keys.md"
)

var layoutNames = map[posenc.Layout]string{
	posenc.HalfSplit: "half-split", posenc.Interleaved: "interleaved", posenc.InterleavedToHalfSplit: "interleaved to half-split",
}

// byName are the keys of a table as people look for them: A beside a.
func byName[V any](table map[string]V) []string {
	return slices.SortedFunc(maps.Keys(table), func(a, b string) int {
		return cmp.Or(strings.Compare(strings.ToLower(a), strings.ToLower(b)), strings.Compare(a, b))
	})
}

// beside is what a type does beside its rotation, or in another way than the columns say.
func beside(name string, f *models.ModelType) string {
	var notes []string
	for _, note := range []struct {
		is   bool
		text string
	}{
		{f.Inverse, "rotates the other way: InvFreq is negative"},
		{f.ListKey != "", "layers differ by the list " + f.ListKey},
		{slices.Contains(f.Traps, "bases_by_layer") && f.ListKey == "", "layers differ by the lists rope_theta and partial_rotary_factors"},
		{f.Indexer != nil, "has indexers"},
		{f.Learned != "", "frequencies times e^" + f.Learned},
		{f.Fourier != nil, "Fourier position embedding: `Model.Fourier`"},
		{f.QueryScale != nil && !f.ScalingObject || f.ScalingTensor != "", "scales queries"},
		{f.ScalingObject, "scales queries where the file has llama_4_scaling"},
	} {
		if note.is {
			notes = append(notes, note.text)
		}
	}
	for _, trap := range huggingFaceTraps {
		if slices.Contains(f.Traps, trap.Name) {
			notes = append(notes, trap.Name)
		}
	}
	return strings.Join(notes, "; ")
}

// table is a table of Markdown with a row for each name, unless row returns none.
func table[V any](columns string, list map[string]V, row func(name string, v V) []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", columns, strings.Repeat("---|", strings.Count(columns, "|")+1))
	for _, name := range byName(list) {
		if cells := row(name, list[name]); cells != nil {
			fmt.Fprintln(&b, "|", strings.Join(cells, " | "), "|")
		}
	}
	return b.String()
}

// sourcesOf returns which projects have a type, by the surveys.
func sourcesOf() map[string]string {
	sources := map[string]string{}
	add := func(project string, names []string) {
		for _, name := range names {
			sources[name] = strings.TrimPrefix(sources[name]+", "+project, ", ")
		}
	}
	add("transformers", readSurvey().Configurations)
	for _, project := range []string{"vLLM", "SGLang"} {
		_, names := served(project + ".txt")
		add(project, names)
	}
	return sources
}

// notYetTable has the types that are not read yet, each with what a caller can do.
func notYetTable() string {
	reasons, sources := map[string]string{}, sourcesOf()
	for line := range strings.Lines(string(kit.Must(os.ReadFile("testdata/served/notyet.txt")))) {
		reason, names, _ := strings.Cut(line, "\t")
		for _, name := range strings.Fields(names) {
			reasons[name] = reason
		}
	}
	return table("model_type or architecture | what a caller can do | served by", reasons, func(name, reason string) []string { return []string{name, reason, sources[name]} })
}

func familyTable() string {
	sources := sourcesOf()
	return table("model_type | pairs | rotated | base | layers that rotate | axes | also, traps | in", families, func(name string, f models.ModelType) []string {
		if f.Refusal != "" {
			return nil
		}
		pairs := layoutNames[f.Layout]
		if f.LayoutKey != "" {
			pairs += ", by " + f.LayoutKey
		}
		absent := models.Parsed(f.Absent)
		if part, ok := document.ToNumber(absent["partial_rotary_factor"]); ok {
			f.Part = part
		}
		if base, ok := document.ToNumber(absent["rope_theta"]); ok {
			f.Base = base
		}
		rotated := "whole head"
		switch {
		case f.Latent:
			rotated = fmt.Sprintf("qk_rope_head_dim (%d)", f.HeadDim)
		case f.RotaryDim != 0:
			rotated = fmt.Sprintf("%s (%d)", cmp.Or(f.CountKey, "rotary_dim"), f.RotaryDim)
		case f.Spread:
			rotated = f.CountKey + ", pairs of a whole head"
		case f.Trailing:
			rotated = fmt.Sprintf("tail, partial_rotary_factor (%v)", f.Part)
		case !f.WholeHead():
			rotated = fmt.Sprintf("partial_rotary_factor (%v)", cmp.Or(f.Part, 1))
		}
		var bases []string
		for _, k := range f.Kinds {
			base := fmt.Sprintf("%.0f", k.Base)
			if k.Base == 0 {
				base = "by its key"
			}
			bases = append(bases, k.LayerType+": "+base)
		}
		if bases == nil {
			bases = []string{fmt.Sprintf("%.0f", f.Base)}
		}
		if bases[0] == "0" {
			bases[0] = "by its key"
		}
		n := 0
		layers := f.Plan(&document.Reader{Keys: document.Object{}}, f.Layers)
		for _, layer := range layers {
			if layer.Rotates {
				n++
			}
		}
		rotating := fmt.Sprintf("%d of %d", n, len(layers))
		switch n {
		case 0:
			rotating = "by its keys"
		case len(layers):
			rotating = "all"
		}
		axes := "1"
		switch {
		case f.Axes != nil && f.Sections == nil:
			axes = "by sections"
		case f.Axes != nil:
			axes = fmt.Sprintf("3 %v", f.Sections)
		}
		return []string{name, pairs, rotated, strings.Join(bases, "<br>"), rotating, axes, beside(name, &f), sources[name]}
	})
}

// twoColumns is a table of a text for each name.
func twoColumns(columns string, texts map[string]string) string {
	return table(columns, texts, func(name, text string) []string { return []string{name, text} })
}

func refusedTable() string {
	reasons := map[string]string{}
	for _, table := range []map[string]models.ModelType{families, towers} {
		for name, f := range table {
			if f.Refusal != "" {
				reasons[name] = f.Refusal
			}
		}
	}
	sources := sourcesOf()
	return table("model_type | what it does, and what you can do | in", reasons, func(name, reason string) []string { return []string{name, reason, sources[name]} })
}

func indexerTable() string {
	return table("model_type | elements of a head | rotated | pairs | Hadamard transform", families, func(name string, f models.ModelType) []string {
		x := f.Indexer
		if x == nil {
			return nil
		}
		head := cmp.Or(x.HeadDimKey, "index_head_dim (128)")
		pairs := layoutNames[x.Layout]
		if x.LayoutKey != "" {
			pairs += ", by " + x.LayoutKey
		}
		return []string{name, head, map[bool]string{false: "the first", true: "the last"}[x.Trailing], pairs, map[bool]string{false: "no", true: "after it"}[x.Hadamard]}
	})
}

func wrapperTable() string {
	sources := sourcesOf()
	return table("model_type | key | text model where it does not say | others | in", wrappers, func(name string, w models.Part) []string {
		return []string{name, w.Key, cmp.Or(w.Type, "as the file says, which must have it"), map[bool]string{false: "error", true: "read"}[models.HolderOf(name).AnyText], sources[name]}
	})
}

func towerTable(t *testing.T) string {
	holders := map[string][]string{}
	for _, name := range document.SortedKeys(visionWrappers) {
		inner := visionWrappers[name].Type
		holders[inner] = append(holders[inner], name)
	}
	orders := map[string]string{
		"00001111": "rows, then columns", "11110000": "columns, then rows", "10101010": "columns and rows alternately",
	}
	return table("model_type | pairs | order of pairs | elements of a head | held by", towers, func(name string, f models.ModelType) []string {
		if f.Refusal != "" {
			return nil
		}
		order := "within each half of a head: not one rotation"
		if f.Arrangement != nil {
			ladder := kit.Must(f.Arrangement(16, 1e4, frequency.Exact))
			order = orders[axesOf(ladder.Axes)]
			if order == "" {
				t.Fatalf("%s: no words for axes %v", name, ladder.Axes)
			}
			if order == "rows, then columns" && ladder.InvFreq[4] != ladder.InvFreq[0] {
				order += ", with the even and the odd frequencies of a head"
			}
		}
		elements := "as the file says"
		if f.Heads != 0 {
			elements = strconv.Itoa(cmp.Or(f.HeadDim, f.Hidden/f.Heads))
		}
		return []string{name, layoutNames[f.Layout], order, elements, strings.Join(holders[name], ", ")}
	})
}

func architectureTable() string {
	pairs := map[string]string{}
	for name, arch := range ggufArchitectures {
		pairs[name] = layoutNames[arch.Layout]
		switch arch.Axes {
		case models.SectionedAxes, models.InterleavedAxes:
			pairs[name] += ", three axes"
		case models.OptionalAxes:
			pairs[name] += "; half-split, three axes where the file has sections"
		}
	}
	return namesTable("pairs | architecture", pairs)
}

func ggufIndexerTable() string {
	return table("architecture | rotated | pairs", ggufArchitectures, func(name string, arch models.GGUFArchitecture) []string {
		if x := arch.Indexer; x != nil {
			return []string{name, map[bool]string{false: "the first elements", true: "the last elements"}[x.Trailing], layoutNames[x.Layout]}
		}
		return nil
	})
}

func ggufFactorsTable() string {
	return namesTable("tensors | architecture", valuesOf(document.SortedKeys(ggufArchitectures), func(name string) string {
		arch, tensors := ggufArchitectures[name], ""
		switch {
		case arch.NeedsFreqs:
			tensors = "rope_freqs.weight; error if it is absent"
		case arch.Freqs:
			tensors = "rope_freqs.weight"
		}
		switch long := "rope_factors_short.weight and rope_factors_long.weight"; {
		case arch.Freqs && arch.LongRoPE:
			return tensors + ", or " + long + " with longrope"
		case arch.AnyType:
			return long
		}
		return tensors
	}))
}

// namesTable has the names of each text.
func namesTable(columns string, texts map[string]string) string {
	names := map[string]string{}
	for _, name := range document.SortedKeys(texts) {
		if texts[name] == "" {
			continue
		}
		names[texts[name]] = strings.TrimPrefix(names[texts[name]]+", "+name, ", ")
	}
	return twoColumns(columns, names)
}

// sizeTable has the names of sizes: the usual one, then the others.
func sizeTable() string {
	text := "| size | keys |\n|---|---|\n"
	for i, size := range []string{"hidden size", "heads", "elements of a head", "layers", "longest sequence"} {
		keys := func(f *models.ModelType) []string {
			names := [][]string{f.Keys.Hidden, f.Keys.Heads, f.Keys.HeadDim, f.Keys.Layers, f.Keys.Positions}[i]
			for _, k := range f.Kinds {
				if k.HeadDimKey != "" && size == "elements of a head" {
					names = append(slices.Clip(names), k.HeadDimKey)
				}
			}
			return names
		}
		usual := families["llama"]
		others := map[string]bool{}
		for _, table := range []map[string]models.ModelType{families, towers} {
			for _, f := range table {
				for _, name := range keys(&f) {
					others[name] = others[name] || f.Refusal == ""
				}
			}
		}
		first := keys(&usual)[0]
		maps.DeleteFunc(others, func(name string, read bool) bool { return name == first || !read })
		text += fmt.Sprintf("| %s | `%s` |\n", size, strings.Join(append([]string{first}, byName(others)...), "`, `"))
	}
	return text
}

func trapTable(traps []modelTrap) string {
	text := "| test | what is true |\n|---|---|\n"
	for _, trap := range traps {
		text += fmt.Sprintf("| `TestTrap/%s` | %s |\n", trap.Name, trap.Text)
	}
	return text
}

func readPage(page string) string { return string(kit.Must(os.ReadFile(page))) }

// The tables of docs/models.md, docs/traps.md and docs/keys.md that the code holds are the code's,
// and each is on its page once.
func TestDocs(t *testing.T) {
	tables := []struct{ page, name, text string }{
		{modelsPage, "families", familyTable()},
		{modelsPage, "wrappers", wrapperTable()},
		{modelsPage, "indexers", indexerTable()},
		{modelsPage, "towers", towerTable(t)},
		{modelsPage, "architectures", architectureTable()},
		{modelsPage, "gguf factors", ggufFactorsTable()},
		{modelsPage, "gguf indexers", ggufIndexerTable()},
		{modelsPage, "refused", refusedTable()},
		{modelsPage, "not yet", notYetTable()},
		{modelsPage, "architectures refused", twoColumns("architecture | what the error asks for", ggufRefused)},
		{modelsPage, "not rotary", namesTable("positions | model_type", notRotary)},
		{modelsPage, "other towers", namesTable("positions | model_type", otherTowers)},
		{modelsPage, "architectures not rotary", namesTable("positions | architecture", ggufNotRotary)},
		{trapsPage, "derived traps", trapTable(derivedTraps)},
		{trapsPage, "traps", trapTable(huggingFaceTraps)},
		{trapsPage, "gguf traps", trapTable(ggufTraps)},
		{keysPage, "sizes", sizeTable()},
	}
	for _, page := range []string{modelsPage, trapsPage, keysPage} {
		text := readPage(page)
		var places, want []string
		for _, place := range regexp.MustCompile(`<!-- table: (.*) -->`).FindAllStringSubmatch(text, -1) {
			places = append(places, place[1])
		}
		for _, table := range tables {
			if table.page != page {
				continue
			}
			want = append(want, table.name)
			_, after, found := strings.Cut(text, "<!-- table: "+table.name+" -->\n")
			got, _, ended := strings.Cut(after, "<!-- end -->")
			if !found || !ended {
				t.Fatalf("%s: table %s has no place, or no end", page, table.name)
			}
			if got != table.text {
				if !*kit.Update {
					t.Errorf("%s: table %s is not the code's; go test ./modelconfig -run TestDocs -update", page, table.name)
				}
				begin := len(text) - len(after)
				text = text[:begin] + table.text + text[begin+len(got):]
			}
		}
		if !slices.Equal(places, want) {
			t.Errorf("%s has places for %q, tables are %q", page, places, want)
		}
		if *kit.Update {
			kit.NoError(t, os.WriteFile(page, []byte(text), 0o644))
		}
	}
}

// Each rule of docs/keys.md has its keys, no more and no fewer, and a constructor that is used.
func TestDocsRules(t *testing.T) {
	var source []byte
	for _, path := range sources() {
		source = append(source, kit.Must(os.ReadFile(path))...)
	}
	var rules []string
	for line := range strings.Lines(section(t, readPage(keysPage), "Rules")) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(cells[1], "`") {
			continue
		}
		ropeType := codes(cells[1])[0]
		rules = append(rules, ropeType)
		keys, _ := huggingface.KeysOfRopeType(ropeType)
		got, want := slices.Sorted(slices.Values(codes(cells[2]))), slices.Sorted(slices.Values(keys))
		if !slices.Equal(slices.Compact(got), want) {
			t.Errorf("rule %s has keys %q, its line %q", ropeType, want, got)
		}
		for _, constructor := range codes(cells[3]) {
			if strings.HasPrefix(constructor, "frequency.") && !regexp.MustCompile(regexp.QuoteMeta(constructor)+`[(,]`).Match(source) {
				t.Errorf("rule %s: nothing uses %s", ropeType, constructor)
			}
		}
	}
	if slices.Sort(rules); !slices.Equal(rules, huggingface.RopeTypeNames()) {
		t.Errorf("rules %q, in the table %q", huggingface.RopeTypeNames(), rules)
	}
}

// docs/keys.md has each key that the readers of both formats have: each of their names with a _ or a
// point, except names of models, kinds of layers, tensors, parts of a document and keys in such parts, beginnings
// of keys, and one that is always refused.
func TestDocsKeys(t *testing.T) {
	text, count := readPage(keysPage), 0
	other := regexp.MustCompile(`^_|[A-Z]|_config$|_attention$|^(hybrid_sliding|minimax_m3_sparse|softmax_scaling.*|rotary_emb.*|extrapolation_factor|.*_)$|^(rope_parameters|rope_scaling|sparse_attention_config)\.`)
	names := modelNames()
	for _, key := range words(slices.DeleteFunc(sources(), func(path string) bool { return filepath.Dir(path) == "." })) {
		if !strings.ContainsAny(key, "_.") || other.MatchString(key) || slices.Contains(names, key) || notRotary[key]+ggufNotRotary[key]+ggufRefused[key] != "" {
			continue
		}
		count++
		if !slices.ContainsFunc([]string{"", "rope.", "rope.scaling.", "rope.scaling.yarn_"}, func(prefix string) bool { return strings.Contains(text, "`"+prefix+key+"`") }) {
			t.Errorf("no key %s", key)
		}
	}
	if count < 150 {
		t.Errorf("%d keys found", count)
	}
}

// docs/keys.md has each type that scales queries.
func TestDocsQueryScales(t *testing.T) {
	scales := section(t, readPage(keysPage), "Query scales")
	check := func(name string, gguf, scaled bool) {
		if scaled != slices.Contains(tableNames(scales, gguf), name) {
			t.Errorf("%s, GGUF %t: scales queries and has no line, or it has one and does not", name, gguf)
		}
	}
	for name, f := range families {
		check(name, false, f.QueryScale != nil || f.ScalingTensor != "")
	}
	for name, arch := range ggufArchitectures {
		check(name, true, arch.QueryScale != models.QueriesUnscaled)
	}
}

// What docs/traps.md says of traps names traps that there are.
func TestDocsTraps(t *testing.T) {
	named := slices.DeleteFunc(codes(section(t, readPage(trapsPage), "Where posenc differs from transformers")), func(name string) bool { return strings.Count(name, "_") < 2 })
	for _, name := range named {
		if !slices.ContainsFunc(huggingFaceTraps, func(about modelTrap) bool { return about.Name == name }) {
			t.Errorf("no trap %s", name)
		}
	}
	if len(named) < 9 {
		t.Errorf("%d traps named", len(named))
	}
}

// section is the text below a heading, down to the next.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, text, found := strings.Cut(text, "\n## "+heading+"\n")
	if !found {
		t.Fatalf("no heading %s", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// codes are the words in backquotes.
func codes(text string) (words []string) {
	for i, word := range strings.Split(text, "`") {
		if i%2 == 1 {
			words = append(words, word)
		}
	}
	return words
}

// tableNames are the names in the first cells of a table: those after GGUF, or the
// others.
func tableNames(table string, gguf bool) (names []string) {
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			first, after := strings.CutPrefix(strings.TrimSpace(cells[1]), "GGUF: ")
			if after == gguf {
				names = append(names, strings.Split(first, ", ")...)
			}
		}
	}
	return names
}
