package heads

import "github.com/go-posenc/posenc/internal/view"

// Slot returns the token of dst that token t goes to, or the row that it takes: t where slots is nil.
func Slot(slots []int32, t int) int {
	if slots == nil {
		return t
	}
	return int(slots[t])
}

// Together returns how many of n tokens, from t on, lie one after another both in x and,
// at their slots, in y.
func Together(y, x *view.Operand, slots []int32, t, n int) int {
	at := Slot(slots, t)
	n = min(x.Together(t, n), y.Together(at, n))
	if slots == nil {
		return n
	}
	for i := 1; i < n; i++ {
		if Slot(slots, t+i) != at+i {
			return i
		}
	}
	return n
}
