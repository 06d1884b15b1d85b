//go:build !unix

package kit

import "testing"

// GuardPages says that nothing faults around an arena: its own bytes are all
// that the tests can watch.
const GuardPages = false

func NewArena(_ testing.TB, n int) []byte {
	const page = 4096
	return make([]byte, (n+page-1)/page*page)
}

func NewArenas(t testing.TB, n, pieces int) (arenas [][]byte) {
	for range pieces {
		arenas = append(arenas, NewArena(t, n))
	}
	return arenas
}

func Fault(f func()) (reason any, functions []string) {
	defer func() { reason = recover() }()
	f()
	return nil, nil
}
