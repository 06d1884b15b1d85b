package gguf

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig"
)

// files are those that the package gguf of Python wrote, without parts of one.
var files = slices.DeleteFunc(kit.Must(filepath.Glob("../../testdata/gguf/*.gguf")), func(path string) bool {
	return strings.Contains(path, "-of-")
})

func readBytes(data []byte) (map[string]any, map[string][]float32, error) {
	return Read(bytes.NewReader(data), int64(len(data)))
}

// Keys have the values that the script wrote, which it took from a config.json, in both
// byte orders.
func TestRead(t *testing.T) {
	for _, name := range []string{"Llama-3.1-8B", "big-endian"} {
		keys, tensors, err := readBytes(kit.ReadGolden("../../testdata/gguf/" + name + ".gguf"))
		kit.NoError(t, err)
		for key, want := range map[string]any{
			"general.architecture": "llama", "general.name": name, "llama.block_count": uint32(32), "llama.context_length": uint32(131072),
			"llama.embedding_length": uint32(4096), "llama.attention.head_count": uint32(32), "llama.rope.freq_base": float32(500000), "llama.rope.dimension_count": uint32(128),
		} {
			if keys[key] != want {
				t.Errorf("%s: %s is %v, want %v", name, key, keys[key], want)
			}
		}
		if factors := tensors["rope_freqs.weight"]; len(factors) != 64 || factors[0] != 1 || factors[63] != 8 {
			t.Errorf("%s: factors %v", name, factors)
		}
		if values, has := tensors["output_norm.weight"]; !has || values != nil || len(tensors) != 2 {
			t.Errorf("%s: tensors %v", name, tensors)
		}
		for key := range keys {
			if strings.HasPrefix(key, "tokenizer.") {
				t.Errorf("%s: %s is kept", name, key)
			}
		}
	}
	_, tensors, err := readBytes(kit.ReadGolden("../../testdata/gguf/Phi-3-mini-128k-instruct.gguf"))
	kit.NoError(t, err)
	var config struct {
		Scaling struct {
			Short []float32 `json:"short_factor"`
			Long  []float32 `json:"long_factor"`
		} `json:"rope_scaling"`
	}
	kit.NoError(t, json.Unmarshal(kit.ReadGolden("../../../../modelconfig/testdata/transformers/configs/Phi-3-mini-128k-instruct.json"), &config))
	short, long := tensors["rope_factors_short.weight"], tensors["rope_factors_long.weight"]
	if len(short) != 48 || !slices.Equal(short, config.Scaling.Short) || !slices.Equal(long, config.Scaling.Long) {
		t.Errorf("factors %v and %v", short, long)
	}
	keys, _, err := readBytes(kit.ReadGolden("../../testdata/gguf/Qwen2.5-VL-7B-Instruct.gguf"))
	if sections, _ := keys["qwen2vl.rope.dimension_sections"].([]any); err != nil || !slices.Equal(sections, []any{int32(16), int32(24), int32(24), int32(0)}) {
		t.Errorf("sections %v, %v", sections, err)
	}
}

// A file that ends in its header, or in its factors, is an error. The weights behind are not
// read.
func TestTruncated(t *testing.T) {
	for _, path := range files {
		data := kit.ReadGolden(path)
		whole, _, err := readBytes(data)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		last := -1 // the longest that is an error
		for n := range len(data) {
			keys, _, err := readBytes(data[:n])
			if err == nil {
				if len(keys) != len(whole) {
					t.Fatalf("%s: %d of %d bytes have %d keys", path, n, len(data), len(keys))
				}
				continue
			}
			if !errors.Is(err, ErrFile) || n >= len(Magic) && !strings.Contains(err.Error(), "truncated") {
				t.Fatalf("%s: %d bytes: %v", path, n, err)
			}
			if last = n; len(err.Error()) > 300 {
				t.Fatal(err)
			}
		}
		if last < len(data)/2 {
			t.Errorf("%s: %d of %d bytes are enough", path, last+1, len(data))
		}
	}
}

// builder writes a header.
type builder struct{ bytes.Buffer }

func (b *builder) add(values ...any) *builder {
	for _, v := range values {
		if s, ok := v.(string); ok {
			b.add(uint64(len(s)))
			b.WriteString(s)
			continue
		}
		if err := binary.Write(b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return b
}

func newHeader(tensors, keys uint64) *builder {
	b := &builder{}
	b.WriteString(Magic)
	return b.add(uint32(3), tensors, keys)
}

// Lengths that no file has are errors that say which, and take little memory.
func TestHostile(t *testing.T) {
	nested := newHeader(0, 1).add("x", uint32(typeArray))
	for range 50_000 {
		nested.add(uint32(typeArray), uint64(1<<10))
	}
	many := newHeader(0, 1<<16)
	for i := range 1 << 16 {
		many.add(strings.Repeat("k", 256)+string(rune(0x100+i)), uint32(typeUint8), uint8(0))
	}
	names := newHeader(1<<16, 0)
	for i := range 1 << 16 {
		names.add(strings.Repeat("t", 256)+string(rune(0x100+i)), uint32(1), uint64(4), uint32(0), uint64(0))
	}
	full := make([]byte, 1<<20)
	tests := map[string]struct {
		data []byte
		want string
	}{
		"empty":            {nil, "truncated"},
		"another file":     {[]byte("GGML and so on"), `want "GGUF"`},
		"version 1":        {(&builder{}).add([]byte(Magic), uint32(1), full[:64]).Bytes(), "version 1, want 2 or 3"},
		"keys":             {newHeader(0, math.MaxUint64).Bytes(), "18446744073709551615 keys"},
		"tensors":          {newHeader(math.MaxUint64, 0).Bytes(), "18446744073709551615 tensors"},
		"name":             {newHeader(0, 1).add(uint64(math.MaxUint64), full).Bytes(), "key 1 of 1, at byte 32: a name of 18446744073709551615 bytes, but only 1048576 are left"},
		"long name":        {newHeader(0, 1).add(string(full), uint32(0), uint8(0)).Bytes(), "want at most 65536"},
		"type":             {newHeader(0, 1).add("x", uint32(77)).Bytes(), `"x", at byte 37: a value of the unknown type 77`},
		"text":             {newHeader(0, 1).add("x", uint32(typeString), uint64(1<<62)).Bytes(), "truncated"},
		"list":             {newHeader(0, 1).add("x", uint32(typeArray), uint32(typeUint64), uint64(1<<61)).Bytes(), "a list of 2305843009213693952 values"},
		"long list":        {newHeader(0, 1).add("x", uint32(typeArray), uint32(typeUint8), uint64(1<<19), full).Bytes(), "want at most 262144"},
		"texts":            {newHeader(0, 1).add("tokenizer.x", uint32(typeArray), uint32(typeString), uint64(2), "", uint64(1<<63)).Bytes(), "truncated"},
		"lists of lists":   {nested.Bytes(), "a list of lists"},
		"names of 16 MB":   {many.Bytes(), "more than 16777216 bytes"},
		"tensors of 16 MB": {names.Bytes(), "more than 16777216 bytes"},
		"bool":             {newHeader(0, 1).add("x", uint32(typeBool), uint8(2)).Bytes(), "a bool of 2"},
		"key twice":        {newHeader(0, 2).add("x", uint32(0), uint8(0), "x", uint32(0), uint8(0)).Bytes(), "twice"},
		"second part":      {newHeader(0, 1).add("split.no", uint32(typeUint16), uint16(1)).Bytes(), "part 2 of a file in several"},
		"dimensions":       {newHeader(1, 0).add("x", uint32(5)).Bytes(), "5 dimensions"},
		"elements":         {newHeader(1, 0).add("x", uint32(2), uint64(1<<40), uint64(1<<40)).Bytes(), "more than 2^64 elements"},
		"factors":          {newHeader(1, 0).add("rope_freqs.weight", uint32(1), uint64(1<<40), uint32(0), uint64(0)).Bytes(), "a tensor of 1099511627776 elements"},
		"16-bit factors":   {newHeader(1, 0).add("rope_freqs.weight", uint32(1), uint64(4), uint32(1), uint64(0)).Bytes(), "of type 1"},
		"factors beyond":   {newHeader(1, 0).add("rope_freqs.weight", uint32(1), uint64(4), uint32(0), uint64(math.MaxUint64), full).Bytes(), "truncated"},
		"alignment":        {newHeader(1, 1).add("general.alignment", uint32(typeUint32), uint32(0), "rope_freqs.weight", uint32(1), uint64(4), uint32(0), uint64(0), full).Bytes(), "a power of two"},
		"alignment's type": {newHeader(1, 1).add("general.alignment", uint32(typeString), "32", "rope_freqs.weight", uint32(1), uint64(4), uint32(0), uint64(0), full).Bytes(), "a power of two"},
		"tensor twice":     {newHeader(2, 0).add("x", uint32(1), uint64(1), uint32(0), uint64(0), "x", uint32(1), uint64(1), uint32(0), uint64(0)).Bytes(), "twice"},
		"factors twice":    {newHeader(2, 0).add("rope_freqs.weight", uint32(1), uint64(1), uint32(0), uint64(0), "rope_freqs.weight", uint32(1), uint64(1), uint32(0), uint64(0)).Bytes(), "twice"},
	}
	for name, test := range tests {
		before := kit.AllocatedBytes()
		_, _, err := readBytes(test.data)
		took := kit.AllocatedBytes() - before
		if err == nil || !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
		}
		if took > 100<<20 {
			t.Errorf("%s: %d MB", name, took>>20)
		}
	}
}

// endless is a file of zeros after its first bytes.
type endless struct{ begin []byte }

func (e endless) ReadAt(p []byte, at int64) (int, error) {
	clear(p)
	if at < int64(len(e.begin)) {
		copy(p, e.begin[at:])
	}
	return len(p), nil
}

// Of a file that is as large as it claims, a header is read up to a bound, and not the rest.
func TestEndless(t *testing.T) {
	const size = 1 << 50
	for name, begin := range map[string]*builder{
		"list":  newHeader(0, 1).add("tokenizer.x", uint32(typeArray), uint32(typeUint8), uint64(1<<49)),
		"texts": newHeader(0, 1).add("tokenizer.x", uint32(typeArray), uint32(typeString), uint64(1<<40)),
		"text":  newHeader(0, 1).add("x", uint32(typeString), uint64(1<<49)),
	} {
		_, _, err := Read(endless{begin.Bytes()}, size)
		if !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), "a header has at most") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzRead reads any bytes as a file, and the keys as those of a model.
func FuzzRead(f *testing.F) {
	for _, path := range files {
		f.Add(kit.ReadGolden(path))
	}
	f.Add(newHeader(0, 1).add("x", uint32(typeArray), uint32(typeString), uint64(2), "a", "b").Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		keys, tensors, err := readBytes(data)
		if err != nil {
			if !errors.Is(err, ErrFile) || len(err.Error()) > 1000 {
				t.Fatal(err)
			}
			return
		}
		// Errors of modelconfig are tested there; here it must come back.
		if model, err := modelconfig.GGUF(keys, tensors); (model == nil) != (err != nil) {
			t.Fatal(model, err)
		}
	})
}
