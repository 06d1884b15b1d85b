package measure

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-posenc/posenc/internal/yardstick"
)

func TestSamplesTakeTurns(t *testing.T) {
	var ran, reported []string
	slow := func(name string) Case {
		return Case{Name: name, Run: func() error { ran = append(ran, name); time.Sleep(shortest); return nil }}
	}
	p, err := NewPlan([]Case{slow("a"), slow("b")}, 3, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	ran = nil
	err = p.Run(func(s Sample) error {
		reported = append(reported, s.Name)
		if s.Calls < 1 || s.Time+yardstick.Tick() < time.Duration(s.Calls)*shortest {
			t.Errorf("%s: %d calls in %v, each sleeps %v", s.Name, s.Calls, s.Time, shortest)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b", "a", "b", "a", "b"}; !slices.Equal(reported, want) {
		t.Errorf("reported %v, want %v", reported, want)
	}
	if len(reported) != p.Samples() {
		t.Errorf("%d samples, said %d", len(reported), p.Samples())
	}
	if turns := slices.Compact(slices.Clone(ran)); !slices.Equal(turns, reported) {
		t.Errorf("ran %v: not in turns", ran)
	}
}

// What takes long has fewer samples, over all of the run.
func TestLongCasesHaveFewerSamples(t *testing.T) {
	calls := 0
	long := Case{Name: "long", Run: func() error { calls++; time.Sleep(2 * warmed); return nil }}
	short := Case{Name: "short", Run: func() error { return nil }}
	p, err := NewPlan([]Case{long, short}, 10, 0)
	if err != nil {
		t.Fatal(err)
	}
	// Not in time for anything, and so as few as there may be.
	if n := p.Samples(); n != 2*fewest {
		t.Errorf("%d samples, want %d of each", n, fewest)
	}
	for i := range p.cases {
		p.cases[i].samples = []int{fewest, 10}[i]
	}
	var names []string
	if err := p.Run(func(s Sample) error { names = append(names, s.Name); return nil }); err != nil {
		t.Fatal(err)
	}
	s := "short"
	if want := []string{s, s, s, s, "long", s, s, s, s, s, "long", s}; !slices.Equal(names, want) {
		t.Errorf("samples %v, want %v", names, want)
	}
	if calls != fewest { // the first call is a sample
		t.Errorf("%d calls, want %d", calls, fewest)
	}
}

func TestNumberOfSamples(t *testing.T) {
	for _, test := range []struct {
		took   time.Duration
		rounds int
		want   int
	}{
		{time.Millisecond, 30, 30}, {10 * time.Millisecond, 30, 10}, {time.Minute, 30, fewest}, {time.Minute, 1, 1},
	} {
		if got := samples(test.took, test.rounds, 100*time.Millisecond); got != test.want {
			t.Errorf("%v in %d rounds: %d samples, want %d", test.took, test.rounds, got, test.want)
		}
	}
}

func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	good := Case{Name: "good", Run: func() error { return nil }}
	bad := Case{Name: "bad", Run: func() error { return broken }}
	if _, err := NewPlan([]Case{good, bad}, 2, 0); !errors.Is(err, broken) || !strings.Contains(err.Error(), "bad") {
		t.Errorf("%v, want broken", err)
	}
	var failing error
	late := Case{Name: "late", Run: func() error { return failing }}
	p, err := NewPlan([]Case{good, late, good}, 2, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	failing = broken
	reported := 0
	err = p.Run(func(Sample) error { reported++; return nil })
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "late") || reported != 1 {
		t.Errorf("%v after %d samples, want broken after 1", err, reported)
	}
	if err := p.Run(func(Sample) error { return broken }); err != broken {
		t.Errorf("%v, want broken", err)
	}
}

func TestPrint(t *testing.T) {
	for _, test := range []struct {
		sample Sample
		want   string
	}{
		{Sample{Case{Name: "X/n=1", Bytes: 16384}, 1000, time.Millisecond}, "BenchmarkX/n=1 \t    1000\t1000 ns/op\t16384 MB/s\n"},
		{Sample{Case{Name: "X"}, 3, 10 * time.Nanosecond}, "BenchmarkX \t       3\t3.333 ns/op\n"},
		{Sample{Case{Name: "X"}, 1, 1300 * time.Millisecond}, "BenchmarkX \t       1\t1300000000 ns/op\n"},
	} {
		var b strings.Builder
		if err := test.sample.Print(&b); err != nil || b.String() != test.want {
			t.Errorf("printed %q, %v, want %q", b.String(), err, test.want)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := Median(test.values); got != test.want {
			t.Errorf("Median(%v) = %v, want %v", test.values, got, test.want)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{{[]float64{3}, 0}, {[]float64{1, 5, 4, 3, 2}, 1. / 3}, {[]float64{1, 3}, 0.25}} {
		if got := Spread(test.values); got != test.want {
			t.Errorf("Spread(%v) = %v, want %v", test.values, got, test.want)
		}
	}
}
