// Package measure times functions in turns and prints the samples in the format
// of Go benchmarks, which benchstat reads.
package measure

import (
	"fmt"
	"io"
	"slices"
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
	shortest = time.Millisecond      // a sample is at least about that long
	warmed   = 50 * time.Millisecond // a shorter call is made once, untimed, before its sample
)

// Rounds takes rounds samples of every case, in turns: one of each, then again,
// so that whatever disturbs the machine disturbs them alike. It ends with the
// first error, of a case or of report.
func Rounds(cases []Case, rounds int, report func(Sample) error) error {
	calls, warm := make([]int, len(cases)), make([]bool, len(cases))
	for range rounds {
		for i, c := range cases {
			if calls[i] == 0 {
				once, err := sample(c, 1)
				if err == nil && once.Time < warmed { // what ran for the first time says little
					once, err = sample(c, 1)
				}
				if err != nil {
					return err
				}
				calls[i] = 1 + int(shortest/(once.Time+1))
				warm[i] = once.Time < warmed
			} else if warm[i] {
				c.Run()
			}
			s, err := sample(c, calls[i])
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

// Median returns the middle of the values, the upper one of two.
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
