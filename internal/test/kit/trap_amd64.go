//go:build linux && amd64 && !purego

package kit

import (
	"bytes"
	"encoding/binary"
	"os"
	"reflect"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/asm"
	"golang.org/x/sys/unix"
)

// TrapFences is [Trap] for the fence after non-temporal stores.
func TrapFences(t testing.TB) (restore func()) {
	t.Helper()
	return Trap(t, asm.FenceStoresAVX2)
}

// Trap makes a kernel that touches no memory fault where it begins, until restore is
// called: [Fault] then says what called it.
func Trap(t testing.TB, kernel func()) (restore func()) {
	t.Helper()
	// Bindings call assembly itself. The function of Go by that name is a wrapper that
	// does so too: CALL and the distance from the instruction that follows.
	const call = 0xe8
	wrapper := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(nil), reflect.ValueOf(kernel).Pointer())), 32)
	at := bytes.IndexByte(wrapper, call)
	if at < 0 {
		t.Fatal("the wrapper has no call")
	}
	distance := int32(binary.LittleEndian.Uint32(wrapper[at+1:]))
	entry := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&wrapper[at+5]), distance)), 4)
	page := uintptr(os.Getpagesize())
	first := uintptr(unsafe.Pointer(&entry[0])) &^ (page - 1)
	pages := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(nil), first)), 2*page)
	protect := func(mode int) {
		if err := unix.Mprotect(pages, mode); err != nil {
			t.Skipf("NOT TESTED: code may not be changed here: %v", err)
		}
	}
	set := func(code [4]byte) {
		protect(unix.PROT_READ | unix.PROT_WRITE | unix.PROT_EXEC)
		*(*[4]byte)(entry) = code
		protect(unix.PROT_READ | unix.PROT_EXEC)
	}
	before := [4]byte(entry)
	set([4]byte{0x31, 0xc0, 0x8b, 0x00}) // XORL AX, AX; MOVL (AX), AX
	return func() { set(before) }
}
