//go:build unix

package kit

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"golang.org/x/sys/unix"
)

// GuardPages says that what lies around an arena faults.
const GuardPages = true

// NewArenas returns pieces of at least n bytes each, with a page that nobody
// may touch before, between and after them.
func NewArenas(t testing.TB, n, pieces int) [][]byte {
	t.Helper()
	page := os.Getpagesize()
	size := (n + page - 1) / page * page
	memory := Must(unix.Mmap(-1, 0, page+pieces*(size+page), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON))
	t.Cleanup(func() {
		if err := unix.Munmap(memory); err != nil {
			t.Error(err)
		}
	})
	var arenas [][]byte
	for i := range pieces {
		start := page + i*(size+page)
		arena := memory[start : start+size : start+size]
		NoError(t, unix.Mprotect(arena, unix.PROT_READ|unix.PROT_WRITE))
		arenas = append(arenas, arena)
	}
	return arenas
}

func NewArena(t testing.TB, n int) []byte { return NewArenas(t, n, 1)[0] }

// Fault runs f and returns what it panicked with, which with SetPanicOnFault
// includes memory that it may not touch, and the functions that were running.
func Fault(f func()) (reason any, functions []string) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if reason = recover(); reason == nil {
			return
		}
		pcs := make([]uintptr, 50)
		frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
		for {
			frame, more := frames.Next()
			functions = append(functions, frame.Function)
			if !more {
				return
			}
		}
	}()
	f()
	return nil, nil
}
