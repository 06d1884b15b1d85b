//go:build race

package posenc_test

import (
	"bytes"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/relative"
)

const raceVariable = "POSENC_TEST_RACE"

// Two goroutines that change one slice, or of which one changes what the other reads, are
// reported. Those that change elements between each other's are not. Each case is a process,
// since a test with a report fails.
func TestRaceDetector(t *testing.T) {
	const tokens, heads, headDim, rotaryDim = 4, 4, 64, 32
	positions := testkit.Sequence(tokens)
	rope := testkit.Must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, RotaryDim: rotaryDim, Layout: posenc.HalfSplit, Base: 10000}))
	rows := testkit.Must(rope.Rows(positions))
	x, y := make([]float32, tokens*heads*headDim), make([]float32, tokens*heads*headDim)
	embeddings, encoding := x[:tokens*headDim], testkit.Must(absolute.Vaswani(headDim))
	scores, slopes := relative.Scores{Data: x, Heads: heads, Queries: tokens, Keys: headDim}, make([]float32, heads)

	rotate := func(first, heads, tokenStride, headStride int) func() error {
		return func() error {
			return posenc.Rotate(rows.All(), posenc.View[float32]{Data: x[first:], Heads: heads, TokenStride: tokenStride, HeadStride: headStride})
		}
	}
	all := rotate(0, heads, 0, 0)
	someTokens := func(first int) func() error { // every second
		return func() error {
			return posenc.Rotate(rope.At(positions[:tokens/2]), posenc.View[float32]{Data: x[first*heads*headDim:], Heads: heads, TokenStride: 2 * heads * headDim})
		}
	}
	rotateInto := func() error {
		return posenc.RotateInto(rows.All(), posenc.View[float32]{Data: y, Heads: heads}, nil, posenc.View[float32]{Data: x, Heads: heads})
	}
	add := func() error { return absolute.AddSinusoidal(embeddings, encoding, positions, 1) }
	alibi := func() error { return relative.AddALiBi(scores, slopes, relative.CausalALiBi) }
	each := func(first, n int, change func(x *float32)) func() error { // n elements of each head
		return func() error {
			for ; first < len(x); first += headDim {
				for i := range n {
					change(&x[first+i])
				}
			}
			return nil
		}
	}
	read := func(x *float32) { _ = *x }
	write := func(x *float32) { *x = 1 }
	for _, tt := range []struct {
		name   string
		f, g   func() error
		report bool
	}{
		{"Rotate", all, all, true},
		{"RotateInto/source", all, rotateInto, true},
		{"RotateInto/destination", rotateInto, rotateInto, true},
		{"Refill", all, func() error { return rows.Refill(positions) }, true},
		{"AddSinusoidal", add, add, true},
		{"AddALiBi", alibi, each(0, 1, read), true},
		{"readers", rotateInto, each(0, headDim, read), false},
		{"heads", rotate(0, heads/2, heads*headDim, 2*headDim), rotate(headDim, heads/2, heads*headDim, 2*headDim), false},
		{"tokens", someTokens(0), someTokens(1), false},
		{"rest", all, each(rotaryDim, headDim-rotaryDim, write), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if os.Getenv(raceVariable) != "" {
				both(t, tt.f, tt.g)
				return
			}
			for _, impl := range testkit.Supported() {
				program := exec.Command(testkit.Must(os.Executable()), "-test.v", "-test.run=^"+t.Name()+"$")
				program.Env = append(os.Environ(), raceVariable+"=1", "GORACE=atexit_sleep_ms=0", "POSENC_IMPL="+impl.String())
				output, err := program.CombinedOutput()
				if got := bytes.Contains(output, []byte("WARNING: DATA RACE")); got != tt.report || !got && !bytes.Contains(output, []byte("--- PASS: "+t.Name()+" ")) {
					t.Errorf("%s: reported: %t, %v\n%s", impl, got, err, output)
				}
			}
		})
	}
}

// both runs two functions in goroutines that live until both are done: to the detector, a
// goroutine that begins where another ended may be that one.
func both(t *testing.T, f, g func() error) {
	var done, ended sync.WaitGroup
	done.Add(2)
	ended.Add(2)
	for _, f := range []func() error{f, g} {
		go func() {
			defer ended.Done()
			if err := f(); err != nil {
				t.Error(err)
			}
			done.Done()
			done.Wait()
		}()
	}
	ended.Wait()
}
