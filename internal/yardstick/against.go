package yardstick

import (
	"math"
	"slices"
	"testing"
	"time"
)

// samples of each of several functions, taken alternately.
const samples = 15

// Against runs work and the rivals alternately and reports the median time
// of work, and that of the fastest rival as a multiple of it: above 1, work is
// faster.
func Against(b *testing.B, unit string, work func(), rivals ...func()) {
	all := append([]func(){work}, rivals...)
	calls := make([]int, len(all))
	times := make([][]float64, len(all))
	for i, f := range all {
		f() // what runs for the first time says little
		calls[i], _, _ = CallsFor(func(calls int) (time.Duration, error) { return timeOf(f, calls), nil },
			max(200*time.Microsecond, 10*Tick()))
	}
	for b.Loop() {
		for range samples {
			for i, f := range all {
				times[i] = append(times[i], float64(timeOf(f, calls[i]).Nanoseconds())/float64(calls[i]))
			}
		}
	}
	fastest := math.Inf(1)
	for _, t := range times[1:] {
		fastest = min(fastest, Quantile(t, 0.5))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(Quantile(times[0], 0.5), "ns/call")
	b.ReportMetric(fastest/Quantile(times[0], 0.5), unit)
}

func timeOf(f func(), calls int) time.Duration {
	start := time.Now()
	for range calls {
		f()
	}
	return time.Since(start)
}

// CallsFor doubles the calls until they take long enough, and returns how long
// they took. A single call may be too short for the clock, and whatever disturbs
// one sample may only make it seem long enough.
func CallsFor(time func(calls int) (time.Duration, error), enough time.Duration) (calls int, took time.Duration, err error) {
	calls = 1
	for again := false; ; {
		switch took, err = time(calls); {
		case err != nil || took >= enough && again:
			return calls, took, err
		case took >= enough:
			again = true
		default:
			calls, again = 2*calls, false
		}
	}
}

// Quantile is in proportion between the two values next to it: of 0.5 it is the
// median. Of no values it is NaN.
func Quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	below, part := math.Modf(share * float64(len(sorted)-1))
	i := int(below)
	return sorted[i] + part*(sorted[min(i+1, len(sorted)-1)]-sorted[i])
}
