package testkit

import (
	"math"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/go-posenc/posenc/internal/dispatch"

	"github.com/go-posenc/posenc/internal/yardstick"
)

// Aligned returns n float32 that start on a cache line, all 1.
func Aligned(n int) []float32 {
	s := make([]float32, n+16)
	for uintptr(unsafe.Pointer(&s[0]))%64 != 0 {
		s = s[1:]
	}
	s = s[:n:n]
	for i := range s {
		s[i] = 1
	}
	return s
}

// Samples of each of several functions, taken in turns.
const Samples = 15

// Against runs work and each of the rivals in turns and reports the median time
// of work, and that of the fastest rival as a multiple of it: above 1, work is
// faster.
func Against(b *testing.B, unit string, work func(), rivals ...func()) {
	all := append([]func(){work}, rivals...)
	calls := make([]int, len(all))
	times := make([][]float64, len(all))
	for i, f := range all {
		calls[i] = CallsFor(f)
	}
	for b.Loop() {
		for range Samples {
			for i, f := range all {
				times[i] = append(times[i], float64(TimeOf(f, calls[i]).Nanoseconds())/float64(calls[i]))
			}
		}
	}
	fastest := math.Inf(1)
	for _, t := range times[1:] {
		fastest = min(fastest, Median(t))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(Median(times[0]), "ns/call")
	b.ReportMetric(fastest/Median(times[0]), unit)
}

func TimeOf(f func(), calls int) time.Duration {
	start := time.Now()
	for range calls {
		f()
	}
	return time.Since(start)
}

// CallsFor returns how many calls make a sample: they take 200 us and ten steps
// of the clock at least.
func CallsFor(f func()) int {
	f() // what runs for the first time says little
	enough := max(200*time.Microsecond, 10*yardstick.Tick())
	calls := 1
	// Twice in a row, since whatever disturbs one makes it seem long enough.
	for min(TimeOf(f, calls), TimeOf(f, calls)) < enough {
		calls *= 2
	}
	return calls
}

// Median returns the middle of the values, of two the mean.
func Median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// OverBuffer turns bounds on a slice into rivals on one.
func OverBuffer(bounds []func(x []float32), x []float32) []func() {
	var rivals []func()
	for _, bound := range bounds {
		rivals = append(rivals, func() { bound(x) })
	}
	return rivals
}

// BenchmarkEach runs a benchmark on every implementation of this machine.
func BenchmarkEach(b *testing.B, run func(b *testing.B)) {
	for _, impl := range dispatch.Supported() {
		restore := dispatch.Use(impl)
		b.Run("impl="+impl.String(), run)
		restore()
	}
}
