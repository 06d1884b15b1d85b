// Package measure times functions alternately, for benchmarks of all packages, for bench and for
// what examples/llama and posenc bench print. It prints samples in the format of Go benchmarks, which
// benchstat reads, and has the loops that no operation on the same memory can beat.
package measure

import (
	"fmt"
	"io"
	"time"
)

// Case is one thing to measure.
type Case struct {
	Name  string       // of the benchmark, without "Benchmark": Family/key=value/...
	Bytes int64        // that one call moves, for MB/s; 0: none are reported
	Run   func() error // one call
}

// Sample is the time of some calls in a row.
type Sample struct {
	Case
	Calls int
	Time  time.Duration
}

const (
	shortest = time.Millisecond      // a sample is at least that long,
	ticks    = 10                    // and this many ticks of the clock
	warmed   = 50 * time.Millisecond // a shorter call is made once, untimed, before its sample
	fewest   = 2                     // samples of a case, where it has several rounds
)

// Plan is how often a case is called, and sampled. One process can make it for
// others.
type Plan struct {
	Name    string
	Bytes   int64
	Calls   int // in a sample
	Samples int
	Call    time.Duration // what one took
}

// NewPlan calls a case until it knows how many calls make a sample. The case is
// sampled in each of the rounds or, if that would take longer than each, in fewer,
// but in two.
func NewPlan(c Case, rounds int, each time.Duration) (Plan, error) {
	first, err := sample(c, 1)
	if err != nil {
		return Plan{}, err
	}
	if first.Time >= warmed {
		return Plan{c.Name, c.Bytes, 1, samples(first.Time, rounds, each), first.Time}, nil
	}
	calls, took, err := CallsFor(func(calls int) (time.Duration, error) {
		s, err := sample(c, calls)
		return s.Time, err
	}, max(shortest, ticks*Tick()))
	return Plan{c.Name, c.Bytes, calls, samples(took, rounds, each), took / time.Duration(calls)}, err
}

// samples are how many a case has that takes so long for each.
func samples(took time.Duration, rounds int, each time.Duration) int {
	return min(rounds, max(fewest, int(each/took)))
}

func (p Plan) warms() bool { return p.Call < warmed }

// Time is what the samples take, with the calls before them.
func (p Plan) Time() time.Duration {
	calls := p.Samples * p.Calls
	if p.warms() {
		calls += p.Samples
	}
	return time.Duration(calls) * p.Call
}

// Run takes the planned samples of cases alternately: one of each, then again, so that
// what disturbs the machine disturbs all of them. What has fewer samples than there
// are rounds sits out in between. It ends with the first error, of a case or of report.
func Run(cases []Case, plans []Plan, rounds int, report func(Sample) error) error {
	byName := map[string]Case{}
	for _, c := range cases {
		byName[c.Name] = c
	}
	for round := range rounds {
		for _, p := range plans {
			c, found := byName[p.Name]
			if !found {
				return fmt.Errorf("%s: planned, expected one of the %d cases", p.Name, len(cases))
			}
			if round*p.Samples/rounds == (round+1)*p.Samples/rounds {
				continue
			}
			if p.warms() {
				c.Run() // the sample has its error
			}
			s, err := sample(c, p.Calls)
			if err == nil {
				err = report(s)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func sample(c Case, calls int) (Sample, error) {
	start := time.Now()
	for range calls {
		if err := c.Run(); err != nil {
			return Sample{}, fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return Sample{c, calls, time.Since(start)}, nil
}

// nanoseconds is the time of a call.
func (s Sample) nanoseconds() float64 { return float64(s.Time.Nanoseconds()) / float64(s.Calls) }

// Print writes the sample as a line of the Go benchmark format.
func (s Sample) Print(w io.Writer) error {
	ns := s.nanoseconds()
	line := fmt.Sprintf("Benchmark%s \t%8d\t%s ns/op", s.Name, s.Calls, significant(ns))
	if s.Bytes > 0 {
		line += fmt.Sprintf("\t%s MB/s", significant(float64(s.Bytes)*1000/max(ns, 1e-3)))
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

// significant keeps four digits and never an exponent.
func significant(v float64) string {
	switch {
	case v < 10:
		return fmt.Sprintf("%.3f", v)
	case v < 100:
		return fmt.Sprintf("%.2f", v)
	case v < 1000:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// Median returns the middle of the values, of two the mean.
func Median(values []float64) float64 { return Quantile(values, 0.5) }

// Spread returns half the distance of the quartiles, as a share of the median.
func Spread(values []float64) float64 {
	return (Quantile(values, 0.75) - Quantile(values, 0.25)) / 2 / Median(values)
}
