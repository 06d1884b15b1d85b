// Package part is one with an internal package, which has no tests of its own.
package part

import "github.com/go-posenc/posenc/asm/_gen/gomutants/testdata/module/part/internal/least"

// Least returns the smallest of some numbers.
func Least(first int, others ...int) int {
	for _, n := range others {
		first = least.Of(first, n)
	}
	return first
}
