package modelconfig

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

// TestReused: of each class of testdata/reused that takes files of a type of another, none that rotates is
// ErrNotRotary, and none of a type that does not rotate has the reason of that type.
func TestReused(t *testing.T) {
	documents, count := servedDocuments(), map[string]int{}
	for line := range strings.Lines(string(kit.Must(os.ReadFile("testdata/reused/reused.txt")))) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		name, class, calls := fields[0], fields[1], fields[3]
		document := map[string]any{"model_type": name}
		if models.Reads(name) {
			if document = maps.Clone(documents(name)); document == nil {
				continue // nothing of the type is read
			}
			document["architectures"] = []string{class}
			if _, err := readOf(name, document); err != nil && !errors.Is(err, ErrValue) { // which asks for a key that files of the class have
				t.Errorf("%s of %s: %v", class, name, err)
			}
			count["read"]++
			continue
		}
		_, typeErr := readOf(name, document)
		document["architectures"] = []string{class}
		m, err := readOf(name, document)
		if calls != "" && errors.Is(err, ErrNotRotary) {
			t.Errorf("%s of %s rotates: %v", class, name, err)
		}
		if models.IsClassOf(name, class) {
			count["of the type"]++
			continue
		}
		if m == nil && err.Error() == typeErr.Error() && models.ReuseOf(name, "", class) == nil {
			t.Errorf("%s of %s: %v, as without it", class, name, err)
		}
		count["of other code"]++
	}
	if count["read"] < 100 || count["of other code"] < 3 {
		t.Errorf("%v", count)
	}
}

// TestUnrotated: a type that does not rotate is ErrNotRotary, and never where the file has a key that
// turns a rotation on, or a class that transformers does not have for the type.
func TestUnrotated(t *testing.T) {
	on := map[string]string{
		"rope_theta": "10000", "rotary_dim": "32", "rotary_pct": "0.25", "use_rope": "true", "rotary": "true", "theta": "10000.0", "rope_scaling": `{"type": "linear", "factor": 2}`,
		"rope_parameters": `{"rope_type": "default", "rope_theta": 10000}`, "position_embedding_type": `"rope"`, "pos_emb_type": `"rotary"`, "rotary_emb_fraction": "1.0", "use_xpos": "true",
		"attn_config": `{"rope": true}`, "attention": `{"rotary_emb_dim": 64}`, "is_neox_style": "true", "mrope_section": "[16, 24, 24]", "qk_rope_head_dim": "64",
	}
	off := map[string]string{
		"rope_theta": "null", "rotary_dim": "0", "rotary_pct": "0.0", "use_rope": "false", "rope_scaling": "null", "rope_parameters": "{}", "attn_config": `{"rope": false}`, "rope_type": `"none"`,
	}
	names := slices.Compact(slices.Sorted(slices.Values(append(models.OtherTypes.Names(), models.Unrotated()...))))
	classes := 0
	for _, name := range names {
		if models.Reads(name) {
			continue
		}
		read := func(members string) (text, vision error) {
			config := []byte(`{"model_type": ` + string(kit.Must(json.Marshal(name))) + members + `}`)
			_, text = HuggingFace(config)
			_, vision = HuggingFaceVision(config)
			return text, vision
		}
		for key, value := range off {
			if err, _ := read(`, "` + key + `": ` + value); !errors.Is(err, ErrNotRotary) {
				t.Errorf("%s with %s: %v", name, key, err)
			}
		}
		for key, value := range on {
			err, visionErr := read(`, "` + key + `": ` + value)
			if unread := slices.Contains(models.UnreadRotation(name), key); errors.Is(err, ErrNotRotary) != unread || !unread && errors.Is(visionErr, ErrNotRotary) {
				t.Errorf("%s with %s: %v, %v", name, key, err, visionErr)
			}
		}
		known, listed := models.ClassesOf(name)
		for _, class := range known {
			classes++
			if err, _ := read(`, "architectures": ["` + class + `"]`); !errors.Is(err, ErrNotRotary) {
				t.Errorf("%s of %s: %v", class, name, err)
			}
		}
		for _, members := range []string{`, "architectures": ["PhantomModel"]`, `, "auto_map": {"AutoModel": "modeling_phantom.PhantomModel"}`, `, "auto_map": {"AutoModelForCausalLM": "a/b--modeling.BertModel"}`} {
			if err, visionErr := read(members); listed && (!errors.Is(err, ErrUnknown) || errors.Is(visionErr, ErrNotRotary)) {
				t.Errorf("%s with %s: %v, %v", name, members, err, visionErr)
			}
		}
		// A caller who names the type has decided.
		if _, err := HuggingFace([]byte(`{"model_type": "x", "architectures": ["PhantomModel"]}`), Options{Type: name}); !errors.Is(err, ErrNotRotary) {
			t.Errorf("%s by Options.Type: %v", name, err)
		}
	}
	if len(names) < 420 || classes < 800 {
		t.Errorf("%d types with %d classes", len(names), classes)
	}
	for _, v := range models.Vendors {
		for _, u := range v.UnreadRotation {
			for _, name := range u.Types {
				if !slices.Contains(names, name) || models.Reads(name) {
					t.Errorf("%s has keys that nothing reads, and may rotate", name)
				}
			}
		}
		for _, r := range v.Reuses {
			if (r.As == "") == (r.Positions == "") || r.As != "" && models.Types.Named(r.As) == nil || !slices.Contains(names, r.Type) {
				t.Errorf("%+v", r)
			}
		}
	}
}

// TestChronos2 rotates the heads of testdata/reused/chronos2.json, which Chronos-2's own code has rotated.
func TestChronos2(t *testing.T) {
	var v struct {
		Config     json.RawMessage
		InvFreq    string `json:"inv_freq"`
		Tokens     int
		Attentions []struct {
			Attention string
			Rotated   []string // q and k before and after
		}
	}
	kit.ReadJSON("testdata/reused/chronos2.json", &v)
	m := mustRead(t, string(v.Config))
	rope := kit.Must(m.Rope(RopeOptions{Rounding: frequency.Float32}))
	config := rope.Rotary(0).Config()
	for i, want := range kit.Hex[float32](v.InvFreq) {
		if got := float32(config.InvFreq[i]); math.Abs(float64(got-want)) > 0x1p-22*float64(want) { // PyTorch's power is off by a step or two
			t.Errorf("InvFreq[%d] is %v, want %v", i, got, want)
		}
	}
	positions := make([]int32, v.Tokens)
	for i := range positions {
		positions[i] = int32(i)
	}
	rotated := 0
	for _, a := range v.Attentions {
		if overTime := strings.HasSuffix(a.Attention, ".layer.0.self_attention"); overTime != (a.Rotated != nil) {
			t.Errorf("%s rotates: %t", a.Attention, a.Rotated != nil)
		}
		if a.Rotated == nil {
			continue
		}
		q, k := kit.Hex[float32](a.Rotated[0]), kit.Hex[float32](a.Rotated[1])
		heads := len(q) / v.Tokens / config.HeadDim
		rows := kit.Must(rope.Rows(positions))
		kit.NoError(t, posenc.Rotate(rows.Layer(rotated), posenc.View[float32]{Data: q, Heads: heads}, posenc.View[float32]{Data: k, Heads: heads}))
		for i, want := range [][]float32{kit.Hex[float32](a.Rotated[2]), kit.Hex[float32](a.Rotated[3])} {
			for j, x := range [][]float32{q, k}[i] {
				if math.Abs(float64(x-want[j])) > 0x1p-19 { // elements of up to 4, angles of up to 8 with a frequency two steps off
					t.Fatalf("%s: element %d is %v, want %v", a.Attention, j, x, want[j])
				}
			}
		}
		rotated++
	}
	if rotated != len(m.Layers()) || rotated == 0 {
		t.Errorf("%d layers rotate, of %d", rotated, len(m.Layers()))
	}
}
