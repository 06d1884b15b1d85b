// Package measure times functions in turns and prints the samples in the format
// of Go benchmarks, which benchstat reads.
package measure

import (
	"fmt"
	"io"
	"time"

	"github.com/go-posenc/posenc/internal/yardstick"
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
	ticks    = 10                    // and so many ticks of the clock
	warmed   = 50 * time.Millisecond // a shorter call is made once, untimed, before its sample
	fewest   = 2                     // samples of a case, where it has several rounds
)

// Plan is how often each case is called, and sampled.
type Plan struct {
	cases  []planned
	rounds int
}

type planned struct {
	Case
	calls   int // in a sample
	samples int
	warm    bool    // one call goes before a sample
	first   *Sample // where none has to, the call of NewPlan is a sample
}

// NewPlan runs every case until it knows how many calls make a sample. A case is
// sampled in each of the rounds or, if that would take longer than each, in fewer,
// but in two. It ends with the first error of a case.
func NewPlan(cases []Case, rounds int, each time.Duration) (*Plan, error) {
	p := &Plan{rounds: rounds}
	for _, c := range cases {
		first, err := sample(c, 1)
		if err != nil {
			return nil, err
		}
		if first.Time >= warmed {
			p.cases = append(p.cases, planned{c, 1, samples(first.Time, rounds, each), false, &first})
			continue
		}
		calls, took, err := yardstick.CallsFor(func(calls int) (time.Duration, error) {
			s, err := sample(c, calls)
			return s.Time, err
		}, max(shortest, ticks*yardstick.Tick()))
		if err != nil {
			return nil, err
		}
		p.cases = append(p.cases, planned{c, calls, samples(took, rounds, each), true, nil})
	}
	return p, nil
}

// samples are how many a case has that takes so long for each.
func samples(took time.Duration, rounds int, each time.Duration) int {
	return min(rounds, max(fewest, int(each/took)))
}

// Samples is how many Run takes.
func (p *Plan) Samples() int {
	n := 0
	for _, c := range p.cases {
		n += c.samples
	}
	return n
}

// Run takes the samples in turns: one of each case, then again, so that whatever
// disturbs the machine disturbs them alike. What has fewer samples than there are
// rounds sits out in between. It ends with the first error, of a case or of report.
func (p *Plan) Run(report func(Sample) error) error {
	for round := range p.rounds {
		for i := range p.cases {
			c := &p.cases[i]
			if round*c.samples/p.rounds == (round+1)*c.samples/p.rounds {
				continue
			}
			s, err := c.next()
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

func (c *planned) next() (Sample, error) {
	if first := c.first; first != nil {
		c.first = nil
		return *first, nil
	}
	if c.warm {
		c.Run()
	}
	return sample(c.Case, c.calls)
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

// Print writes the sample as a line of the Go benchmark format.
func (s Sample) Print(w io.Writer) error {
	ns := float64(s.Time.Nanoseconds()) / float64(s.Calls)
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
func Median(values []float64) float64 { return yardstick.Quantile(values, 0.5) }

// Spread returns half the distance of the quartiles, as a share of the median.
func Spread(values []float64) float64 {
	return (yardstick.Quantile(values, 0.75) - yardstick.Quantile(values, 0.25)) / 2 / Median(values)
}
