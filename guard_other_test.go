//go:build !unix

package posenc

import "testing"

// guardPages says that nothing faults around an arena: its own bytes are all
// that the tests can watch.
const guardPages = false

func newArena(_ testing.TB, n int) []byte {
	const page = 4096
	return make([]byte, (n+page-1)/page*page)
}

func fault(f func()) (reason any, functions []string) {
	defer func() { reason = recover() }()
	f()
	return nil, nil
}
