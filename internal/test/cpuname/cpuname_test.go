package cpuname

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/cpuid/v2"
)

func TestBytes(t *testing.T) {
	for bytes, want := range map[int]string{512: "512 B", 16 << 10: "16 KiB", 3 << 19: "1.5 MiB", 1 << 30: "1 GiB"} {
		if got := Bytes(bytes); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", bytes, got, want)
		}
	}
	if got := Bytes(math.MaxInt); !strings.HasSuffix(got, " GiB") { // the largest unit
		t.Errorf("the most bytes are %s", got)
	}
}

func TestName(t *testing.T) {
	const arm = "CPU implementer : 0x41\nCPU part : 0xd40\n"
	const two = `processor	: 0
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
	for _, tt := range []struct {
		cpu                         cpuid.CPUInfo
		architecture, cpuinfo, want string
	}{
		{cpuid.CPUInfo{BrandName: "X", Family: 6, Model: 143}, "amd64", "", "X, family 6 model 143"},
		{cpuid.CPUInfo{BrandName: "X", Family: 65}, "arm64", arm, "X"},
		{cpuid.CPUInfo{Family: 65}, "arm64", arm, "ARM implementer 0x41 part 0xd40 variant  revision "},
		{cpuid.CPUInfo{}, "arm64", two, "ARM implementer 0x41 part 0xd40 variant 0x1 revision 1"},
		{cpuid.CPUInfo{}, "arm64", "processor : 0\nvendor_id : GenuineIntel\n", "unknown arm64"},
		{cpuid.CPUInfo{}, "arm64", "CPU implementer : 0x41\n", "unknown arm64"},
		{cpuid.CPUInfo{}, "amd64", "", "unknown amd64"},
	} {
		if got := name(&tt.cpu, tt.architecture, tt.cpuinfo); got != tt.want {
			t.Errorf("%s, %+v, %q: name %q, want %q", tt.architecture, tt.cpu, tt.cpuinfo, got, tt.want)
		}
	}
	if Name() == "" {
		t.Error("this CPU has no name")
	}
}

func TestCaches(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }
	linux := fstest.MapFS{
		"index0/level": file("1"), "index0/type": file("Data"), "index0/size": file("64K"),
		"index1/level": file("1"), "index1/type": file("Instruction"), "index1/size": file("64K"),
		"index2/level": file("2"), "index2/type": file("Unified"), // of no size
		"index3/level": file("3"), "index3/type": file("Unified"), "index3/size": file("32768K"),
		"index4/type": file("Unified"), "index4/size": file("64K"), // of no level
		"index5/level": file("4"), "index5/type": file("Unified"), "index5/size": file("allK"),
		"index6/level": file("4"), "index6/type": file("Unified"), "index6/size": file("64"),
		"uevent": file(""),
	}
	var c cpuid.CPUInfo
	c.Cache.L1D, c.Cache.L2, c.Cache.L3 = 32<<10, -1, 0
	if got, want := caches(&c, linux), []Cache{{1, 32 << 10}}; !slices.Equal(got, want) {
		t.Errorf("caches %v, want %v", got, want)
	}
	c.Cache.L1D = -1 // on ARM the CPU does not say what it has
	if got, want := caches(&c, linux), []Cache{{1, 64 << 10}, {3, 32 << 20}}; !slices.Equal(got, want) {
		t.Errorf("caches %v, want those of Linux, %v", got, want)
	}
	if got := caches(&c, os.DirFS(filepath.Join(t.TempDir(), "none"))); got != nil {
		t.Errorf("caches %v of nothing", got)
	}
	for _, cache := range Caches() {
		if cache.Bytes <= 0 || cache.Level < 1 {
			t.Errorf("this CPU has a cache %v", cache)
		}
	}
}
