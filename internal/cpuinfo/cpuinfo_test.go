package cpuinfo

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
)

func TestBytes(t *testing.T) {
	for bytes, want := range map[int]string{512: "512 B", 16 << 10: "16 KiB", 3 << 19: "1.5 MiB", 1 << 30: "1 GiB"} {
		if got := Bytes(bytes); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", bytes, got, want)
		}
	}
}

// What Linux says on ARM, where the CPU does not say what it is.
func TestLinuxOnARM(t *testing.T) {
	text := `processor	: 0
BogoMIPS	: 2000.00
Features	: fp asimd evtstrm aes
CPU implementer	: 0x41
CPU architecture: 8
CPU variant	: 0x1
CPU part	: 0xd40
CPU revision	: 1

processor	: 1
CPU implementer	: 0x41
CPU part	: 0xd05
`
	if got, want := armName(text), "ARM implementer 0x41 part 0xd40 variant 0x1 revision 1"; got != want {
		t.Errorf("name %q, want %q", got, want)
	}
	if got := armName("processor : 0\nvendor_id : GenuineIntel\n"); got != "" {
		t.Errorf("name %q of another CPU", got)
	}
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }
	got := linuxCaches(fstest.MapFS{
		"index0/level": file("1"), "index0/type": file("Data"), "index0/size": file("64K"),
		"index1/level": file("1"), "index1/type": file("Instruction"), "index1/size": file("64K"),
		"index2/level": file("2"), "index2/type": file("Unified"), // of no size
		"index3/level": file("3"), "index3/type": file("Unified"), "index3/size": file("32768K"),
		"uevent": file(""),
	})
	if want := []Cache{{1, 64 << 10}, {3, 32 << 20}}; !slices.Equal(got, want) {
		t.Errorf("caches %v, want %v", got, want)
	}
	if got := linuxCaches(os.DirFS(filepath.Join(t.TempDir(), "none"))); got != nil {
		t.Errorf("caches %v of nothing", got)
	}
}
