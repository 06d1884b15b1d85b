package measure

import (
	"testing"
	"time"
)

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

func TestQuantile(t *testing.T) {
	for _, test := range []struct {
		values      []float64
		share, want float64
	}{
		{[]float64{3}, 0.5, 3}, {[]float64{9, 1, 5}, 0.5, 5}, {[]float64{4, 1, 3, 2}, 0.5, 2.5},
		{[]float64{1, 5, 4, 3, 2}, 0.25, 2}, {[]float64{1, 3}, 0.75, 2.5}, {[]float64{1, 3}, 1, 3},
	} {
		if got := Quantile(test.values, test.share); got != test.want {
			t.Errorf("Quantile(%v, %v) = %v, want %v", test.values, test.share, got, test.want)
		}
	}
	if got := Quantile(nil, 0.5); got == got {
		t.Errorf("Quantile of no values = %v, want NaN", got)
	}
}
