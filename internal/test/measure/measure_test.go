package measure

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/kernels"
)

func TestSamplesAlternate(t *testing.T) {
	if Tick() <= 0 {
		t.Errorf("the clock moves by %v", Tick())
	}
	var ran, reported []string
	slow := func(name string) Case {
		return Case{Name: name, Run: func() error { ran = append(ran, name); time.Sleep(shortest); return nil }}
	}
	cases := []Case{slow("a"), slow("b"), slow("not planned")}
	var plans []Plan
	for _, c := range cases[:2] {
		p, err := NewPlan(c, 3, time.Hour)
		if err != nil || p.Samples != 3 || p.Call+Tick() < shortest {
			t.Errorf("%+v, %v, want 3 samples of calls of at least %v", p, err, shortest)
		}
		plans = append(plans, p)
	}
	ran = nil
	err := Run(cases, plans, 3, func(s Sample) error {
		reported = append(reported, s.Name)
		if s.Calls < 1 || s.Time+Tick() < time.Duration(s.Calls)*shortest {
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
	if order := slices.Compact(slices.Clone(ran)); !slices.Equal(order, reported) {
		t.Errorf("ran %v: not alternately", ran)
	}
}

// What takes long has fewer samples, over all of the run, and no call before them.
func TestLongCasesHaveFewerSamples(t *testing.T) {
	calls := 0
	long := Case{Name: "long", Run: func() error { calls++; time.Sleep(2 * warmed); return nil }}
	short := Case{Name: "short", Run: func() error { return nil }}
	var plans []Plan
	for i, c := range []Case{long, short} {
		p, err := NewPlan(c, 10, 0)
		// Not in time for anything, and so as few as there may be.
		if err != nil || p.Samples != fewest {
			t.Errorf("%+v, %v, want %d samples", p, err, fewest)
		}
		p.Samples = []int{fewest, 10}[i]
		plans = append(plans, p)
	}
	var names []string
	kit.NoError(t, Run([]Case{long, short}, plans, 10, func(s Sample) error { names = append(names, s.Name); return nil }))
	s := "short"
	if want := []string{s, s, s, s, "long", s, s, s, s, s, "long", s}; !slices.Equal(names, want) {
		t.Errorf("samples %v, want %v", names, want)
	}
	if calls != 1+fewest {
		t.Errorf("%d calls, want 1 to plan and %d", calls, fewest)
	}
}

func TestTime(t *testing.T) {
	for _, test := range []struct {
		plan Plan
		want time.Duration
	}{
		{Plan{Calls: 100, Samples: 30, Call: 20 * time.Microsecond}, 60600 * time.Microsecond},
		{Plan{Calls: 1, Samples: 2, Call: warmed - 1}, 4 * (warmed - 1)},
		{Plan{Calls: 1, Samples: 2, Call: warmed}, 2 * warmed},
	} {
		if got := test.plan.Time(); got != test.want {
			t.Errorf("%+v takes %v, want %v", test.plan, got, test.want)
		}
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
	if _, err := NewPlan(bad, 2, 0); !errors.Is(err, broken) || !strings.Contains(err.Error(), "bad") {
		t.Errorf("%v, want broken", err)
	}
	if _, err := Medians([]Case{good, bad}, 2); !errors.Is(err, broken) {
		t.Errorf("%v, want broken", err)
	}
	plans := []Plan{{Name: "good", Calls: 1, Samples: 2}, {Name: "bad", Calls: 1, Samples: 2}}
	reported := 0
	err := Run([]Case{good, bad}, plans, 2, func(Sample) error { reported++; return nil })
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "bad") || reported != 1 {
		t.Errorf("%v after %d samples, want broken after 1", err, reported)
	}
	if err := Run([]Case{good}, plans[:1], 2, func(Sample) error { return broken }); err != broken {
		t.Errorf("%v, want broken", err)
	}
	if err := Run([]Case{good}, plans, 2, func(Sample) error { return nil }); err == nil || !strings.Contains(err.Error(), "bad: planned") {
		t.Errorf("%v, want that bad is no case", err)
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

// The medians are those of the cases, in their order.
func TestMedians(t *testing.T) {
	var cases []Case
	for _, ms := range []int{2, 4} {
		cases = append(cases, Case{Name: strconv.Itoa(ms), Run: func() error { time.Sleep(time.Duration(ms) * time.Millisecond); return nil }})
	}
	// A sleep is at least as long as it is asked to be, and a clock may be one step short.
	got, err := Medians(cases, 3)
	if tick := float64(Tick()); err != nil || len(got) != 2 || got[0] < 2e6-tick || got[1] < 4e6-tick {
		t.Errorf("%v ns, %v, want at least 2 ms and 4 ms", got, err)
	}
}

func TestQuantiles(t *testing.T) {
	for _, test := range []struct {
		values                         []float64
		median, quarter, third, spread float64
	}{
		{[]float64{3}, 3, 3, 3, 0},
		{[]float64{9, 1, 5}, 5, 3, 7, 0.4},
		{[]float64{4, 1, 3, 2}, 2.5, 1.75, 3.25, 0.3},
		{[]float64{1, 5, 4, 3, 2}, 3, 2, 4, 1. / 3},
		{[]float64{1, 3}, 2, 1.5, 2.5, 0.25},
	} {
		got := [...]float64{Median(test.values), Quantile(test.values, 0.5), Quantile(test.values, 0.25), Quantile(test.values, 0.75), Spread(test.values)}
		if got != [...]float64{test.median, test.median, test.quarter, test.third, test.spread} {
			t.Errorf("%v: %v, want %v", test.values, got, test)
		}
	}
	if got := Quantile(nil, 0.5); got == got {
		t.Errorf("Quantile of no values = %v, want NaN", got)
	}
	if got := Quantile([]float64{1, 3}, 1); got != 3 {
		t.Errorf("the largest of 1 and 3 is %v", got)
	}
}

// A clock that moves by 15.6 ms at a time, as that of Windows may, and a call of
// 100 ns, which it cannot see.
func TestCoarseClock(t *testing.T) {
	const step, call = 15600 * time.Microsecond, 100 * time.Nanosecond
	calls, took, err := CallsFor(func(calls int) (time.Duration, error) {
		return (time.Duration(calls) * call).Truncate(step), nil
	}, 10*step)
	if real := time.Duration(calls) * call; err != nil || took < 10*step || real < took || real > 2*11*step {
		t.Errorf("%d calls, %v by the clock, %v in truth, %v: want at least %v, and not much more", calls, took, real, err, 10*step)
	}
}

// One sample in eight takes longer than all others need to.
func TestDisturbedSamples(t *testing.T) {
	n := 0
	calls, _, err := CallsFor(func(calls int) (time.Duration, error) {
		if n++; n%8 == 1 {
			return time.Second, nil
		}
		return time.Duration(calls) * time.Microsecond, nil
	}, time.Millisecond)
	if err != nil || calls != 1024 {
		t.Errorf("%d calls of a microsecond make a millisecond, %v, want 1024", calls, err)
	}
}

// Plain Go runs everywhere. All elements are visited, and stay what they are.
func TestPlainBounds(t *testing.T) {
	x := []float32{1, 1, 1, 1, 1}
	check := func(operation string) {
		if slices.Min(x) != 1 || slices.Max(x) != 1 {
			t.Errorf("%s: %v, want ones", operation, x)
		}
	}
	for _, b := range Bounds(kernels.Generic) {
		b.Run(x)
		check(b.Operation)
	}
	clear(x)
	for _, call := range Over(x, "store", kernels.Generic) {
		call()
	}
	check("store")
}

// Lines are stored for as many bytes as are due, and none behind them.
func TestLoadStore(t *testing.T) {
	buffer := kit.Aligned(256)
	for _, test := range []struct{ numbers, bytes, lines int }{{0, 64, 0}, {32, 63, 0}, {320, 34, 5}, {320, 18, 2}, {128, 64, 4}} {
		x, y := make([]float32, test.numbers), buffer
		for i := range x {
			x[i] = 1
		}
		for _, call := range LoadStore(x, y, test.bytes, dispatch.Implementation()) {
			clear(y)
			call()
			if n := slices.Index(append(y, 0), 0); n != 16*test.lines || slices.Max(y[n:]) != 0 {
				t.Errorf("%d numbers, %d bytes for 32: %d stored, want %d lines", test.numbers, test.bytes, n, test.lines)
			}
		}
	}
}

// Each implementation in assembly has every operation.
func TestBounds(t *testing.T) {
	seen := map[string]int{}
	for _, b := range assembly {
		seen[b.needs.String()+" "+b.Operation]++
	}
	for _, b := range assembly {
		for operation, want := range map[string]int{"scale": 2, "add": 2, "store": 1, "nontemporal": 1, "twostreams": 1} {
			if n := seen[b.needs.String()+" "+operation]; n != want {
				t.Errorf("%v has %d bounds by %s, want %d", b.needs, n, operation, want)
			}
		}
	}
}
