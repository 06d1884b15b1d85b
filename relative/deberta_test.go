package relative_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/relative"
)

// The buckets of transformers and its biases. PyTorch's products have roundings
// of their own, so the vectors hold them: what is compared is the gather, the
// division and the sum, which have the same bits.
func TestDeBERTaAgainstTransformers(t *testing.T) {
	var vectors struct {
		Cases []struct {
			Buckets     int
			MaxPosition int `json:"max_position"`
			First       int
			Position    float32s
			Types       []string
			Tokens      int
			Scale       float32s
			C2P         float32s
			P2C         float32s
			Bias        float32s
		}
	}
	readGolden(t, "deberta", &vectors)
	if len(vectors.Cases) != 9 {
		t.Fatalf("%d cases, want 9", len(vectors.Cases))
	}
	for _, c := range vectors.Cases {
		b := testkit.MustDeBERTaBuckets(t, c.Buckets, c.MaxPosition)
		if len(c.Position) == 0 && len(c.Bias) == 0 {
			t.Error("an empty case")
		}
		for i, want := range c.Position {
			if got := b.Position(c.First + i); got != int(want) {
				t.Errorf("%d buckets up to %d: distance %d is position %d, want %v", c.Buckets, c.MaxPosition, c.First+i, got, want)
			}
		}
		if len(c.Bias) == 0 {
			continue
		}
		got := make([]float32, len(c.Bias))
		s := relative.Scores{Data: got, Heads: len(got) / c.Tokens / c.Tokens, Queries: c.Tokens, Keys: c.Tokens}
		if err := relative.AddDeBERTa(s, b, relative.Products{Data: c.C2P}, relative.Products{Data: c.P2C}, c.Scale[0]); err != nil {
			t.Fatal(err)
		}
		if !testkit.SameSlices(got, c.Bias) {
			t.Errorf("%d buckets up to %d, %v: biases differ", c.Buckets, c.MaxPosition, c.Types)
		}
	}
}

func TestDeBERTaBucketLimits(t *testing.T) {
	b := testkit.MustDeBERTaBuckets(t, 256, 512)
	for distance, want := range map[int]int{0: 256, 128: 384, 129: 385, -129: 127, 511: 511, 512: 511, -511: 1, -512: 0, math.MaxInt: 511, math.MinInt: 0} {
		if got := b.Position(distance); got != want {
			t.Errorf("distance %d is position %d, want %d", distance, got, want)
		}
	}
	b = testkit.MustDeBERTaBuckets(t, 0, 512)
	for distance, want := range map[int]int{0: 512, 511: 1023, 512: 1023, -512: 0, -513: 0, math.MinInt: 0} {
		if got := b.Position(distance); got != want {
			t.Errorf("without buckets, distance %d is position %d, want %d", distance, got, want)
		}
	}
	b = testkit.MustDeBERTaBuckets(t, 1024, 65536)
	for n := range 70000 {
		got, next := b.Position(n), b.Position(n+1)
		if next < got || next > got+1 {
			t.Fatalf("position %d at %d, %d at %d", got, n, next, n+1)
		}
	}
	if got := new(relative.DeBERTaBuckets).Position(5); got != 0 {
		t.Errorf("without buckets the position is %d", got)
	}
}

func TestAddDeBERTa(t *testing.T) {
	const heads, least, most = 4, -50, 80
	b := testkit.MustDeBERTaBuckets(t, 16, 40)
	columns := 32
	c2p, p2c := make([]float32, heads*(most-least)*columns), make([]float32, heads*(most-least)*columns)
	testkit.FillRandom(testkit.NewRand(100), c2p)
	testkit.FillRandom(testkit.NewRand(101), p2c)
	// Products of all heads and positions of a model: a tile has some of them.
	of := func(data []float32, head, position int) relative.Products {
		return relative.Products{Data: data[(head*(most-least)+position-least)*columns:], HeadStride: (most - least) * columns, RowStride: columns}
	}
	for _, both := range [][2]bool{{true, true}, {true, false}, {false, true}} {
		want := func(score float32, head, query, key int) float32 {
			r := b.Position(query - key)
			bias := of(c2p, head, query).Data[r] / 3
			switch other := of(p2c, head, key).Data[r] / 3; {
			case !both[0]:
				bias = other
			case both[1]:
				bias += other
			}
			return score + bias
		}
		add := func(s relative.Scores) error {
			var x, y relative.Products
			if both[0] {
				x = of(c2p, s.FirstHead, s.FirstQuery)
			}
			if both[1] {
				y = of(p2c, s.FirstHead, s.FirstKey)
			}
			return relative.AddDeBERTa(s, b, x, y, 3)
		}
		eachScores(t, 102, heads, least, most, want, add)
	}
}

func TestDeBERTaErrors(t *testing.T) {
	data := make([]float32, 100)
	scores := relative.Scores{Data: data[:4], Heads: 2, Queries: 1, Keys: 2}
	create := func(buckets, maxPosition int) error {
		_, err := relative.NewDeBERTaBuckets(relative.DeBERTaConfig{Buckets: buckets, MaxPosition: maxPosition})
		return err
	}
	b := testkit.MustDeBERTaBuckets(t, 4, 8)
	c2p, p2c := relative.Products{Data: data[4:20]}, relative.Products{Data: data[4:36]}
	for _, tt := range []struct {
		err  error
		kind error
		says string
	}{
		{create(2, 512), posenc.ErrConfig, "NewDeBERTaBuckets: cfg.Buckets is 2"},
		{create(-1, 512), posenc.ErrConfig, "cfg.Buckets is -1"},
		{create(255, 512), posenc.ErrConfig, "cfg.Buckets is 255"},
		{create(1026, 2000), posenc.ErrConfig, "cfg.Buckets is 1026"},
		{create(256, 129), posenc.ErrConfig, "cfg.MaxPosition is 129, want from 130 to 65536"},
		{create(0, 0), posenc.ErrConfig, "cfg.MaxPosition is 0, want from 1"},
		{create(256, 65537), posenc.ErrConfig, "cfg.MaxPosition is 65537"},
		{relative.AddDeBERTa(scores, nil, c2p, p2c, 1), posenc.ErrConfig, "AddDeBERTa: buckets is nil or zero"},
		{relative.AddDeBERTa(scores, b, c2p, p2c, 0), posenc.ErrConfig, "divisor is 0"},
		{relative.AddDeBERTa(scores, b, c2p, p2c, float32(math.NaN())), posenc.ErrConfig, "divisor is NaN"},
		{relative.AddDeBERTa(scores, b, c2p, p2c, float32(math.Inf(1))), posenc.ErrConfig, "divisor is +Inf"},
		{relative.AddDeBERTa(scores, b, relative.Products{}, relative.Products{}, 1), posenc.ErrLength, "contentToPosition.Data is nil"},
		{relative.AddDeBERTa(relative.Scores{Data: data[:3], Heads: 2, Queries: 1, Keys: 2}, b, c2p, p2c, 1), posenc.ErrLength, "scores.Data is 3 elements"},
		{relative.AddDeBERTa(scores, b, p2c, p2c, 1), posenc.ErrLength, "contentToPosition.Data is 32 elements, want 16"},
		{relative.AddDeBERTa(scores, b, c2p, c2p, 1), posenc.ErrLength, "positionToContent.Data is 16 elements, want 32"},
		{relative.AddDeBERTa(scores, b, relative.Products{Data: data[4:20], RowStride: -1}, p2c, 1), posenc.ErrShape, "contentToPosition.RowStride is -1"},
		{relative.AddDeBERTa(scores, b, relative.Products{Data: data[4:20], HeadStride: -1}, p2c, 1), posenc.ErrShape, "contentToPosition.HeadStride is -1"},
		{relative.AddDeBERTa(scores, b, relative.Products{Data: data[4:20], HeadStride: 9}, p2c, 1), posenc.ErrLength, "want at least 17"},
		{relative.AddDeBERTa(scores, b, c2p, relative.Products{Data: data[4:20], RowStride: math.MaxInt}, 1), posenc.ErrLength, "more than an int can count for 2 heads of 2 rows and 8 columns at strides 0 and "},
		{relative.AddDeBERTa(scores, b, relative.Products{Data: data[3:19]}, p2c, 1), posenc.ErrOverlap, "contentToPosition.Data is sharing elements"},
		{relative.AddDeBERTa(scores, b, c2p, relative.Products{Data: data[3:35]}, 1), posenc.ErrOverlap, "positionToContent.Data is sharing elements"},
	} {
		if !errors.Is(tt.err, tt.kind) || !strings.Contains(tt.err.Error(), tt.says) {
			t.Errorf("got %q, want %q and that it says %q", tt.err, tt.kind, tt.says)
		}
	}
	for _, x := range data {
		if x != 0 {
			t.Fatal("an error came after a write")
		}
	}
}

func TestDeBERTaAllocates(t *testing.T) {
	b := testkit.MustDeBERTaBuckets(t, 4, 8)
	checkAllocations(t, map[string]func(){
		"AddDeBERTa": func() {
			var data [18]float32
			var c2p, p2c [2 * 3 * 8]float32
			relative.AddDeBERTa(relative.Scores{Data: data[:], Heads: 2, Queries: 3, Keys: 3}, b, relative.Products{Data: c2p[:]}, relative.Products{Data: p2c[:]}, 2)
		},
	})
}
