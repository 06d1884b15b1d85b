package main

import (
	"math"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/go-posenc/posenc/bench/measure"
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

// time is the median of a call in ns.
func (r results) time(name string) float64 {
	if len(r[name]) == 0 {
		return math.NaN()
	}
	return measure.Median(r[name])
}

// speed is in GB/s, of the median.
func (r results) speed(name string, bytes int) float64 { return float64(bytes) / r.time(name) }

// bound is the speed in GB/s of the fastest loop of a bound, NaN where there is
// none.
func (r results) bound(operation string, bytes int) float64 {
	best := math.NaN()
	for name := range r {
		if strings.HasPrefix(name, bound{operation, "", nil}.name(bytes)) {
			if v := r.speed(name, bytes); !(v <= best) {
				best = v
			}
		}
	}
	return best
}
