package measure

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRoundsTakeTurns(t *testing.T) {
	var ran, reported []string
	slow := func(name string) Case {
		return Case{Name: name, Run: func() error { ran = append(ran, name); time.Sleep(shortest); return nil }}
	}
	err := Rounds([]Case{slow("a"), slow("b")}, 3, func(s Sample) error {
		reported = append(reported, s.Name)
		if s.Calls < 1 || s.Time < time.Duration(s.Calls)*shortest {
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
	first := strings.Index(strings.Join(ran, ""), "b")
	if last := strings.LastIndex(strings.Join(ran, ""), "a"); first > last {
		t.Errorf("ran %v: not in turns", ran)
	}
}

func TestRoundsEndWithAnError(t *testing.T) {
	broken := errors.New("broken")
	good := Case{Name: "good", Run: func() error { return nil }}
	bad := Case{Name: "bad", Run: func() error { return broken }}
	reported := 0
	err := Rounds([]Case{good, bad, good}, 2, func(Sample) error { reported++; return nil })
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "bad") || reported != 1 {
		t.Errorf("%v after %d samples, want broken after 1", err, reported)
	}
	if err := Rounds([]Case{good}, 2, func(Sample) error { return broken }); err != broken {
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
	}{{[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 3, 2}, 3}} {
		if got := Median(test.values); got != test.want {
			t.Errorf("Median(%v) = %v, want %v", test.values, got, test.want)
		}
	}
}
