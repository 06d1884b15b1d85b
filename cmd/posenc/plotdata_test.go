package main

import (
	"bytes"
	"image"
	"image/png"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/cmd/posenc/internal/source"
	"github.com/go-posenc/posenc/internal/testkit"
)

func llama31() []rotation {
	return testkit.Must(rotations(testkit.Must(source.Load(configs + "/Llama-3.1-8B.json"))))
}

// TestPictures: the pictures of the documents are what the commands beside them draw; -update
// draws them.
func TestPictures(t *testing.T) {
	pictures := testkit.Must(filepath.Abs("../../docs/pictures"))
	drawn := []string{"speed.png"} // bench draws it
	decode := func(path string) image.Image {
		return testkit.Must(png.Decode(bytes.NewReader(testkit.ReadGolden(path))))
	}
	var text []byte
	for _, document := range testkit.Must(filepath.Glob("../../docs/*.md")) {
		text = append(text, testkit.ReadGolden(document)...)
	}
	t.Chdir(configs)
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		out := slices.Index(words, "--out") + 1
		if out == 0 || !strings.HasPrefix(line, "posenc plot ") {
			continue
		}
		name := words[out]
		committed := filepath.Join(pictures, name)
		words[out] = filepath.Join(t.TempDir(), name)
		if *testkit.Update {
			words[out] = committed
		}
		succeed(t, words[1:]...)
		if !reflect.DeepEqual(decode(words[out]), decode(committed)) {
			t.Errorf("docs/pictures/%s is not what its command draws: go test -C cmd/posenc -run TestPictures . -update", name)
		}
		drawn = append(drawn, name)
	}
	for _, file := range testkit.Must(filepath.Glob(filepath.Join(pictures, "*.png"))) {
		if !slices.Contains(drawn, filepath.Base(file)) {
			t.Errorf("no document says how %s is drawn", file)
		}
	}
}

// TestMeanCos: every integer is in one bin, and the mean of a bin is that of the sum.
func TestMeanCos(t *testing.T) {
	next := 1
	for _, b := range bins(5000, 30) {
		if b.first != next || b.last < b.first {
			t.Fatalf("bin %v after %d", b, next-1)
		}
		next = b.last + 1
		for _, w := range []float64{0, 1e-9, 0.3, 2, 2 * math.Pi} {
			sum := 0.0
			for n := b.first; n <= b.last; n++ {
				sum += math.Cos(float64(n) * w)
			}
			// Angles of up to 5000*2*pi have roundings of 2^-39, and so have the cosines.
			if got, want := meanCos(w, b.first, b.last), sum/float64(b.last-b.first+1); math.Abs(got-want) > 4e-12 {
				t.Errorf("mean of cos(n*%v) for n = %v: %v, want %v", w, b, got, want)
			}
		}
	}
	if next != 5001 {
		t.Errorf("the last bin ends at %d", next-1)
	}
}

// TestAngleErrors: an angle of float32 is off by at most half a unit in its last place and that
// of its frequency, 2^-24 of the angle each, a little more for pairs whose frequency is made in several steps; and the
// fastest pair, 1 radian per position, is exact.
func TestAngleErrors(t *testing.T) {
	c := testkit.Must(angleErrors(llama31()))
	curve := c.Curves[0]
	for i, x := range curve.X {
		if y := curve.Y[i]; y > math.Ldexp(4*1.1*x, -24) || x > 100 && y < math.Ldexp(0.1*x, -24) {
			t.Errorf("position %v: error %v", x, y)
		}
	}
}
