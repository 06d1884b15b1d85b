package measure

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Medians returns the nanoseconds of a call of each case, medians of samples that are taken
// alternately.
func Medians(cases []Case, samples int) ([]float64, error) {
	var plans []Plan
	for _, c := range cases {
		plan, err := NewPlan(c, samples, time.Hour)
		if err != nil {
			return nil, err
		}
		plans = append(plans, plan)
	}
	times := map[string][]float64{}
	err := Run(cases, plans, samples, func(s Sample) error {
		times[s.Name] = append(times[s.Name], s.nanoseconds())
		return nil
	})
	var medians []float64
	for _, c := range cases {
		medians = append(medians, Median(times[c.Name]))
	}
	return medians, err
}

// Benchmark is what Against needs of *testing.B.
type Benchmark interface {
	Loop() bool
	ReportMetric(n float64, unit string)
}

// Against runs work and the rivals alternately and reports the median time
// of work, and that of the fastest rival as a multiple of it: above 1, work is
// faster.
func Against(b Benchmark, unit string, work func(), rivals ...func()) {
	var cases []Case
	for i, f := range append([]func(){work}, rivals...) {
		cases = append(cases, Case{Name: fmt.Sprint(i), Run: func() error { f(); return nil }})
	}
	var works, fastest []float64
	for b.Loop() {
		medians, _ := Medians(cases, 15) // no case has an error
		works, fastest = append(works, medians[0]), append(fastest, slices.Min(medians[1:]))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(Median(works), "ns/call")
	b.ReportMetric(Median(fastest)/Median(works), unit)
}

// CallsFor doubles the calls until they take long enough, and returns how long
// they took. A single call may be too short for the clock, and what disturbs
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
