package posenc_test

import (
	"math"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/relative"
)

// BenchmarkStopTheWorld collects garbage while another goroutine is in kernels,
// and reports how long the collector waited for it to stop: a goroutine in
// assembly stops at the end of the call. Read p50, p99 and max, bounds of the
// buckets of Go's own histogram; "idle" is the same without the other goroutine.
func BenchmarkStopTheWorld(b *testing.B) {
	const tokens = 1 << 14
	r := testkit.Must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: 128, Layout: posenc.HalfSplit}))
	positions := testkit.Sequence(tokens)
	cos, sin, angles := make([]float32, 64*tokens), make([]float32, 64*tokens), make([]float32, 64*tokens)
	x := posenc.View[float32]{Data: make([]float32, 128*8*tokens), Heads: 8}
	for _, work := range []struct {
		name string
		call func() error
	}{
		{"idle", nil},
		{"CosSin", func() error { return r.CosSin(cos, sin, positions) }},
		{"CosSinAngles", func() error { return posenc.CosSinAngles(cos, sin, angles) }},
		{"Rotate", func() error { return posenc.Rotate(r.At(positions), x) }},
		{"AddALiBi", func() error {
			return relative.AddALiBi(relative.Scores{Data: x.Data, Heads: 1, Queries: 64, Keys: len(x.Data) / 64}, []float32{0.5}, relative.CausalALiBi)
		}},
	} {
		b.Run("during="+work.name, func(b *testing.B) {
			var done sync.WaitGroup
			stop := make(chan struct{})
			if work.call != nil {
				done.Add(1)
				go func() {
					defer done.Done()
					for {
						select {
						case <-stop:
							return
						default:
						}
						if err := work.call(); err != nil {
							panic(err)
						}
					}
				}()
			}
			sample := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
			counts := func() []uint64 {
				metrics.Read(sample)
				return append([]uint64(nil), sample[0].Value.Float64Histogram().Counts...)
			}
			before := counts()
			for b.Loop() {
				runtime.GC()
			}
			after := counts()
			close(stop)
			done.Wait()
			bounds, total := sample[0].Value.Float64Histogram().Buckets, uint64(0)
			for i := range after {
				after[i] -= before[i]
				total += after[i]
			}
			for _, q := range []struct {
				name  string
				share float64
			}{{"p50-us", 0.5}, {"p99-us", 0.99}, {"max-us", 1}} {
				sum := uint64(0)
				for i, count := range after {
					if sum += count; float64(sum) >= math.Ceil(q.share*float64(total)) {
						b.ReportMetric(bounds[i+1]*1e6, q.name)
						break
					}
				}
			}
		})
	}
}
