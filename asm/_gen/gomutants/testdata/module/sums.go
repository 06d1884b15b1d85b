// Package sums is what the test of gomutants changes.
package sums

// Sum adds the numbers from 1 to n.
func Sum(n int) (sum int) {
	if n < 0 {
		return 0
	}
	for i := 1; i <= n; i++ {
		sum += i
	}
	return sum
}

// Never is not called.
func Never(a, b bool) bool { return a && b }
