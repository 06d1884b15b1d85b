package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/go-posenc/posenc/internal/test/measure"
)

// results are the nanoseconds of one call, of every sample, by name.
type results map[string][]float64

func parse(raw string) (results, error) {
	r := results{}
	reader := benchfmt.NewReader(strings.NewReader(raw), "raw.txt")
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.Result:
			if seconds, ok := record.Value("sec/op"); ok {
				name := record.Name.String()
				r[name] = append(r[name], seconds*1e9)
			}
		case *benchfmt.SyntaxError:
			return nil, record
		}
	}
	return r, reader.Err()
}

// time is the median of a call in ns, NaN without samples.
func (r results) time(name string) float64 {
	return measure.Median(r[name])
}

// spread is half the distance of the quartiles, as a share of the median, NaN without samples.
func (r results) spread(name string) float64 {
	return measure.Spread(r[name])
}

// samples are the fewest and the most of a name.
func (r results) samples() (fewest, most int) {
	fewest = math.MaxInt
	for _, times := range r {
		fewest, most = min(fewest, len(times)), max(most, len(times))
	}
	return fewest, most
}

// speed is in GB/s, of the median.
func (r results) speed(name string, bytes int) float64 { return float64(bytes) / r.time(name) }

// fastest is the name of the fastest loop of a bound, "" where there is none.
func (r results) fastest(operation string, bytes int) string {
	best := ""
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if strings.HasPrefix(name, boundName(operation, "", bytes)) && (best == "" || r.time(name) < r.time(best)) {
			best = name
		}
	}
	return best
}

// bound is the speed in GB/s of the fastest loop of a bound, NaN where there is
// none.
func (r results) bound(operation string, bytes int) float64 {
	return r.speed(r.fastest(operation, bytes), bytes)
}

// measured is a speed with its spread, for tables.
func (r results) measured(name string, bytes int) string {
	if len(r[name]) == 0 {
		return "-"
	}
	return fmt.Sprintf("%s ± %s", digits(r.speed(name, bytes)), percent(r.spread(name)))
}
