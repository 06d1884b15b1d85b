package posenc_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

// pageVectors is testdata/pages/vectors.json.
type pageVectors struct {
	ONNXRuntime []struct {
		Bits, Dim, Tokens int
		Scales, Special   []uint32
		Keys, Values      string
	}
	OpenVINO []struct {
		Precision, Mode string
		Group           int
		Calls           []int
		Special         []uint32
		Keys, Values    string
	}
}

// pageInputs is inputs of testdata/pages/generate.py: keys or values of two heads.
func pageInputs(seed, tokens, dim int, outlier bool, special []uint32) []float32 {
	x := make([]float32, tokens*2*dim)
	for i := range x {
		x[i] = float32((int64(i+seed)*2654435761+97)%(1<<24)-(1<<23)) / (1 << 21)
		if outlier && i%dim == 5 {
			x[i] *= 16
		}
	}
	for i, bits := range special {
		x[i] = math.Float32frombits(bits)
	}
	return x
}

func checkBytes(t *testing.T, what string, got []byte, want string) {
	t.Helper()
	bytesWanted := testkit.Must(hex.DecodeString(want))
	if bytes.Equal(got, bytesWanted) {
		return
	}
	different, first := 0, -1
	for i := range bytesWanted {
		if got[i] != bytesWanted[i] {
			different++
			if first < 0 {
				first = i
			}
		}
	}
	t.Errorf("%s: %d of %d bytes differ, the first is number %d: %x, want %x", what, different, len(got), first, got[first], bytesWanted[first])
}

// Bytes are those of ONNX Runtime's GroupQueryAttention and of OpenVINO's PagedAttentionExtension, also where a page
// grows call by call.
func TestPagesGolden(t *testing.T) {
	var vectors pageVectors
	if err := json.Unmarshal(testkit.Must(os.ReadFile("testdata/pages/vectors.json")), &vectors); err != nil {
		t.Fatal(err)
	}
	const heads = 2
	rope := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 32, Layout: posenc.HalfSplit})
	for _, v := range vectors.ONNXRuntime {
		format := map[int]posenc.CacheFormat{8: posenc.ONNXRuntimeInt8, 4: posenc.ONNXRuntimeInt4}[v.Bits]
		_, record, err := posenc.PagedView{Format: format}.Record(v.Dim)
		if err != nil {
			t.Fatal(err)
		}
		var scales []float32
		for _, bits := range v.Scales {
			scales = append(scales, math.Float32frombits(bits))
		}
		view := func(x []float32) (into posenc.IntoPages[float32]) {
			into.Dst = posenc.PagedView{Format: format, Scales: scales, View: posenc.View[byte]{Data: make([]byte, heads*v.Tokens*record), Heads: heads, TokenStride: record, HeadStride: v.Tokens * record}}
			into.Src, into.HeadDim = posenc.View[float32]{Data: x, Heads: heads}, v.Dim
			return into
		}
		k, values := view(pageInputs(1<<20, v.Tokens, v.Dim, true, v.Special)), view(pageInputs(1<<21, v.Tokens, v.Dim, false, v.Special))
		if err := posenc.RotateIntoPagesKV(rope.Unrotated(v.Tokens), nil, k, values); err != nil {
			t.Fatal(err)
		}
		checkBytes(t, "keys", k.Dst.Data, v.Keys)
		checkBytes(t, "values", values.Dst.Data, v.Values)
	}
	for _, v := range vectors.OpenVINO {
		const dim, pages = 32, 3
		formats := map[string][2]posenc.CacheFormat{"u8": {posenc.OpenVINOU8, posenc.OpenVINOU8ByChannel}, "u4": {posenc.OpenVINOU4, posenc.OpenVINOU4ByChannel}}[v.Precision]
		total := 0
		for _, n := range v.Calls {
			total += n
		}
		cache := func(format posenc.CacheFormat, group int) posenc.PagedView {
			p := posenc.PagedView{Format: format, Group: group}
			tokens, record, err := p.Record(dim)
			if err != nil {
				t.Fatal(err)
			}
			p.View = posenc.View[byte]{Heads: heads, Data: make([]byte, pages*heads*32/tokens*record)}
			if tokens == 1 {
				p.TokenStride, p.HeadStride, p.SequenceTokens, p.SequenceStride = record, 32*record, 32, heads*32*record
			}
			return p
		}
		keys, values := cache(formats[1], 0), cache(formats[0], v.Group)
		if v.Mode == "BY_TOKEN" {
			keys = cache(formats[0], v.Group)
		}
		k, x := pageInputs(1<<20, total, dim, true, nil), pageInputs(1<<21, total, dim, false, v.Special)
		past := 0
		for _, n := range v.Calls {
			slots := make([]int32, n)
			for i := range slots {
				slots[i] = int32([]int{2, 0, 1}[(past+i)/32]*32 + (past+i)%32)
			}
			of := func(x []float32) posenc.View[float32] {
				return posenc.View[float32]{Data: x[past*heads*dim:][:n*heads*dim], Heads: heads}
			}
			if err := posenc.RotateIntoPagesKV(rope.Unrotated(n), slots, posenc.IntoPages[float32]{Dst: keys, Src: of(k)}, posenc.IntoPages[float32]{Dst: values, Src: of(x)}); err != nil {
				t.Fatal(err)
			}
			past += n
		}
		what := v.Precision + " " + v.Mode
		checkBytes(t, what+" keys", keys.Data, v.Keys)
		checkBytes(t, what+" values", values.Data, v.Values)
	}
}
