package modelconfig

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/kit"
)

// reading is a line of testdata/readings: a document, and what a function makes of it. README.md
// there says how a line is written.
type reading struct {
	line     int
	document string
	facts    string // or the name of an error
	part     string // of the error's text
}

// topic is a heading of a file of readings, and the lines below it.
type topic struct {
	function, name string
	readings       []reading
}

// readers are the functions that have a file of readings.
var readers = map[string]func(document string) (*Model, error){
	"HuggingFace":       func(document string) (*Model, error) { return HuggingFace([]byte(document)) },
	"HuggingFaceVision": func(document string) (*Model, error) { return HuggingFaceVision([]byte(document)) },
	"HuggingFaceMultimodal": func(document string) (*Model, error) {
		_, _, err := HuggingFaceMultimodal([]byte(document))
		return nil, err
	},
	"GGUF": func(document string) (*Model, error) { return readGGUF(ggufDocument(document)) },
}

var sentinels = map[string]error{"ErrSyntax": ErrSyntax, "ErrValue": ErrValue, "ErrUnknown": ErrUnknown, "ErrContradiction": ErrContradiction, "ErrNotRotary": ErrNotRotary, "ErrAbsent": ErrAbsent}

// ggufDocument returns the keys of a line for readGGUF: an architecture, and what changes in ggufKeys.
func ggufDocument(document string) map[string]any {
	arch, text, changed := strings.Cut(document, " ")
	changes := map[string]any{}
	if changed {
		decodeNumbers([]byte(text), &changes)
	}
	metadataTypes(changes)
	var pairs []any
	for key, v := range changes {
		if count, number, isTensor := strings.Cut(fmt.Sprint(v), "*"); isTensor {
			v = slices.Repeat([]float32{float32(kit.Must(strconv.ParseFloat(number, 32)))}, kit.Must(strconv.Atoi(count)))
		}
		pairs = append(pairs, key, v)
	}
	return ggufKeys(arch, pairs...)
}

func topicsOf(function string) (topics []topic) {
	last := &topic{}
	for i, line := range bytes.Split(kit.ReadGolden("testdata/readings/"+function+".txt"), []byte("\n")) {
		fields := strings.Split(string(line), "\t")
		if name, heads := strings.CutPrefix(fields[0], "# "); heads {
			topics = append(topics, topic{function: function, name: name})
			last = &topics[len(topics)-1]
			continue
		}
		if len(line) == 0 || strings.HasPrefix(fields[0], "// ") {
			continue
		}
		fields = append(fields, "", "")
		r := reading{i + 1, fields[0], fields[1], fields[2]}
		if r.document == "" {
			r.document = last.readings[len(last.readings)-1].document
		}
		last.readings = append(last.readings, r)
	}
	return topics
}

func (topic *topic) test(t *testing.T) {
	var above *Model
	for _, r := range topic.readings {
		m, err := readers[topic.function](r.document)
		if sentinel := sentinels[r.facts]; sentinel != nil {
			if m != nil || !errors.Is(err, sentinel) || !strings.HasPrefix(err.Error(), "modelconfig."+topic.function+": ") || !strings.Contains(err.Error(), r.part) {
				t.Errorf("line %d: %v, want %v with %q", r.line, err, sentinel, r.part)
			}
			continue
		}
		if err != nil {
			t.Errorf("line %d: %v", r.line, err)
			continue
		}
		tolerance := 1e-12 // figures of float64 functions, each good to a few units in the last place
		if topic.function == "GGUF" {
			tolerance = 1e-6 // keys are float32
		}
		if difference := differs(r.facts, m, above, tolerance); difference != "" {
			t.Errorf("line %d: %s", r.line, difference)
		}
		if r.facts != "as above" {
			above = m
		}
	}
}

// differs says which of the facts is not true of a model; "": all are.
func differs(facts string, m, above *Model, tolerance float64) string {
	o, growth := kindOptions{}, 1.0
	float := func(s string) float64 { return kit.Must(strconv.ParseFloat(s, 64)) }
	for fact := range strings.SplitSeq(facts, ", ") {
		name, want, _ := strings.Cut(fact, " ")
		got := ""
		switch name {
		case "":
			continue
		case "kind":
			o.LayerType = want
			continue
		case "length":
			o.SequenceLength = kit.Must(strconv.Atoi(want))
			continue
		case "ntk":
			growth = float(want)
			continue
		case "as":
			if difference := m.differsFrom(above); difference != "" {
				return difference
			}
			continue
		case "type":
			got = m.Type()
		case "layers", "kinds":
			got = lettersOf(m, name == "kinds")
			if letter, count, repeats := strings.Cut(want, "*"); repeats {
				want = strings.Repeat(letter, kit.Must(strconv.Atoi(count)))
			}
		case "context":
			got = fmt.Sprint(m.ContextLength())
		case "chunks":
			c := m.Layers()[0].DualChunk
			got = fmt.Sprint(c.ChunkSize, c.LocalSize, c.OriginalPositions)
		case "latent":
			got = fmt.Sprint(m.Layers()[0].LatentAttention)
		case "depends":
			beyond, depends := m.DependsOnLength()
			got = fmt.Sprint(beyond, " ", depends)
		case "queries":
			got = queriesOf(m)
		case "traps":
			got = strings.Join(trapNames(m), " ")
		case "has", "lacks":
			if slices.Contains(trapNames(m), want) != (name == "has") {
				return fmt.Sprintf("%s: the traps are %q", fact, trapNames(m))
			}
			continue
		default:
			cfg, err := m.rotaryFor(o)
			if err == nil {
				_, err = posenc.NewRotary(cfg)
			}
			if err != nil {
				return fmt.Sprintf("%s: %v", fact, err)
			}
			var number, wanted float64
			switch name, index, _ := strings.Cut(strings.TrimSuffix(name, "]"), "["); name {
			case "dim":
				got = fmt.Sprintf("%d/%d", cfg.RotaryDim, cfg.HeadDim)
				if cfg.Offset != 0 {
					got += fmt.Sprintf("+%d", cfg.Offset)
				}
			case "layout":
				got = cfg.Layout.String()
			case "axes":
				got = axesOf(cfg.Axes)
			case "attention":
				number, wanted = cfg.AttentionFactor, float(want)
			case "softmax":
				number, wanted = m.softmaxScaleFor(o), float(want)
			case "base", "freq":
				i, d := 1, float64(cfg.RotaryDim)
				if index != "" {
					i = kit.Must(strconv.Atoi(index))
				}
				if number = cfg.InvFreq[i]; name == "freq" {
					wanted = float(want)
					break
				}
				base, divisor, divided := strings.Cut(want, "/")
				if !divided {
					divisor = "1"
				}
				wanted = math.Pow(float(base)*math.Pow(growth, d/(d-2)), -2*float64(i)/d) / float(divisor)
			default:
				return fmt.Sprintf("no such fact: %s", fact)
			}
			if got == "" {
				if !(math.Abs(number-wanted) <= tolerance*math.Abs(wanted)) {
					return fmt.Sprintf("%s: got %v, want %v", fact, number, wanted)
				}
				continue
			}
		}
		if got != want {
			return fmt.Sprintf("%.100s: got %.100s", fact, got)
		}
	}
	return ""
}

// differsFrom says where a model rotates otherwise than another; "": nowhere.
func (m *Model) differsFrom(other *Model) string {
	same := func(a, b Layer) bool {
		a.Rule.Parameters, b.Rule.Parameters = nil, nil // 0 and an absent number are the same rule
		return a == b
	}
	if !slices.EqualFunc(m.Layers(), other.Layers(), same) || !slices.Equal(m.layerTypes(), other.layerTypes()) {
		return fmt.Sprintf("%d layers of %q, want %d of %q", len(m.Layers()), m.layerTypes(), len(other.Layers()), other.layerTypes())
	}
	for _, kind := range m.layerTypes() {
		for _, length := range []int{1, 1 << 20} {
			o := kindOptions{LayerType: kind, SequenceLength: length}
			if m.of().Kinds[kind].Learned != "" {
				o.FrequencyFactors = slices.Repeat([]float64{1}, m.of().Kinds[kind].Rotary.RotaryDim/2)
			}
			if a, b := kit.Must(m.rotaryFor(o)), kit.Must(other.rotaryFor(o)); !reflect.DeepEqual(a, b) {
				return fmt.Sprintf("%q is %+v, want %+v", kind, a, b)
			}
		}
	}
	return ""
}

// lettersOf has a letter for each layer: - for those that do not rotate, x for those with an
// indexer, R for others; or the first letter of their kind.
func lettersOf(m *Model, kinds bool) string {
	var s strings.Builder
	for _, layer := range m.Layers() {
		letter := byte('R')
		switch {
		case layer.Indexer && !kinds:
			letter = 'x'
		case !layer.Rotates:
			letter = '-'
		case kinds && layer.Kind != "":
			letter = layer.Kind[0]
		}
		s.WriteByte(letter)
	}
	return s.String()
}

func axesOf(axes []uint8) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(axes), " ", ""), "[]")
}

// queriesOf has the scaling of queries of layers that rotate and of the others, if all of them have
// the same.
func queriesOf(m *Model) string {
	found := map[bool]string{true: "-", false: "-"}
	seen := map[bool]bool{}
	for _, layer := range m.Layers() {
		text := "-"
		if q := layer.QueryScaling; q != (posenc.QueryScaling{}) {
			text = fmt.Sprintf("%v@%d", q.Beta, q.Length)
			if q.Offset != 0 {
				text += fmt.Sprintf("+%d", q.Offset)
			}
			text += map[posenc.QueryScaleRule]string{posenc.PowerOfRatio: "^", posenc.ClampedLog: "L"}[q.Rule]
		}
		if seen[layer.Rotates] && text != found[layer.Rotates] {
			text = "several"
		}
		found[layer.Rotates], seen[layer.Rotates] = text, true
	}
	return found[true] + " " + found[false]
}

func trapNames(m *Model) (names []string) {
	for _, trap := range m.Traps() {
		names = append(names, trap.Name)
	}
	return names
}

// topicsByName has the topics of all files.
func topicsByName() map[string][]topic {
	topics := map[string][]topic{}
	for function := range readers {
		for _, topic := range topicsOf(function) {
			topics[topic.name] = append(topics[topic.name], topic)
		}
	}
	return topics
}

// TestReadings reads the documents of the topics that are no traps.
func TestReadings(t *testing.T) {
	topics := topicsByName()
	for _, trap := range allTraps() {
		delete(topics, trap.Name)
	}
	for name, list := range topics {
		for _, topic := range list {
			t.Run(topic.function+"/"+name, topic.test)
		}
	}
}

// TestTrap has a test of each trap: the documents of its topics, and what trapTests has.
func TestTrap(t *testing.T) {
	topics, names := topicsByName(), map[string]bool{}
	for _, trap := range allTraps() {
		names[trap.Name] = true
		t.Run(trap.Name, func(t *testing.T) {
			test, list := trapTests[trap.Name], topics[trap.Name]
			if test == nil && list == nil {
				t.Fatal("this trap has no test")
			}
			if test != nil {
				test(t)
			}
			for _, topic := range list {
				topic.test(t)
			}
		})
	}
	for name := range trapTests {
		if !names[name] {
			t.Errorf("%s is no trap", name)
		}
	}
}

func allTraps() []modelTrap { return slices.Concat(derivedTraps, huggingFaceTraps, ggufTraps) }

// The function of package frequency that a rule names, with its parameters, makes the
// frequencies of the model. In GGUF files the factor of rope.scaling divides besides the factors of a
// tensor, and the rule has both.
func TestRules(t *testing.T) {
	models := map[string]*Model{}
	for name, config := range map[string]string{
		"default": `{"model_type": "llama"}`, "linear": `{"model_type": "llama", "rope_scaling": {"type": "linear", "factor": 4}}`,
		"dynamic NTK": `{"model_type": "llama", "rope_scaling": {"type": "dynamic", "factor": 4}}`,
		"NTK":         `{"model_type": "llama", "rope_scaling": {"type": "ntk", "factor": 4}}`,
		"NTK mixed":   `{"model_type": "llama", "rope_scaling": {"type": "ntk", "factor": 4, "mixed_b": 0.5}}`,
		"NTK alpha":   `{"model_type": "hunyuan", "rope_scaling": {"type": "dynamic", "alpha": 1000}}`,
		"yarn":        `{"model_type": "qwen3", "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}}`,
		"llama3":      llama31, "longrope": phi3,
		"proportional": `{"model_type": "llama", "rope_scaling": {"rope_type": "proportional", "partial_rotary_factor": 0.25}}`,
	} {
		models[name] = mustRead(t, config)
	}
	for name, document := range map[string]string{
		"factors": `llama {"/rope_freqs.weight": "64*2", "rope.scaling.factor": 4}`, "linear": `llama {"rope.scaling.factor": 4}`, "default": "llama", "NTK alpha": `hunyuan-dense {"rope.scaling.alpha": 1000}`,
		"longrope": `phi3 {"rope.scaling.factor": 4, "rope.scaling.type": "longrope", "rope.scaling.original_context_length": 4096, "rope.scaling.attn_factor": 1.25, "/rope_factors_short.weight": "64*2", "/rope_factors_long.weight": "64*3"}`,
	} {
		models[name+" of GGUF"] = kit.Must(readGGUF(ggufDocument(document)))
	}
	for name, m := range models {
		rule := m.Layers()[0].Rule
		if rule.Name != strings.TrimSuffix(name, " of GGUF") {
			t.Errorf("%s: %+v", name, rule)
		}
		for _, length := range []int{4096, 4097} {
			cfg := kit.Must(m.rotaryFor(kindOptions{SequenceLength: length}))
			dim, base := cfg.RotaryDim, rule.Base
			var ladder frequency.Ladder
			var err error
			switch p := rule.Parameters.(type) {
			case nil:
				ladder, err = frequency.Default(dim, base, frequency.Exact)
			case frequency.LinearParameters:
				ladder, err = frequency.Linear(dim, base, p, frequency.Exact)
			case frequency.NTKParameters:
				ladder, err = frequency.NTK(dim, base, p, frequency.Exact)
			case frequency.NTKMixedParameters:
				ladder, err = frequency.NTKMixed(dim, base, p, frequency.Exact)
			case frequency.NTKAlphaParameters:
				ladder, err = frequency.NTKAlpha(dim, base, p, frequency.Exact)
			case frequency.DynamicNTKParameters:
				p.SequenceLength = length
				ladder, err = frequency.DynamicNTK(dim, base, p, frequency.Exact)
			case frequency.YaRNParameters:
				ladder, err = frequency.YaRN(dim, base, p, frequency.Exact)
			case frequency.LongRoPEParameters:
				p.SequenceLength = length
				ladder, err = frequency.LongRoPE(dim, base, p, frequency.Exact)
			case frequency.Llama3Parameters:
				ladder, err = frequency.Llama3(dim, base, p, frequency.Exact)
			case frequency.ProportionalParameters:
				ladder, err = frequency.Proportional(cfg.HeadDim, base, p, frequency.Exact)
			case []float64:
				ladder, err = frequency.Factors(dim, base, p, frequency.Exact)
			default:
				t.Errorf("%s: parameters %T", name, p)
			}
			if err != nil || !slices.Equal(ladder.InvFreq, cfg.InvFreq) || ladder.AttentionFactor != cfg.AttentionFactor {
				t.Errorf("%s, %d tokens: the rule makes other frequencies, %v", name, length, err)
			}
		}
	}
}
