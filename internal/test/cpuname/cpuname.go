// Package cpuname names the CPU and its caches.
package cpuname

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/cpuid/v2"
)

// Cache is one of a core, or shared by several, of data.
type Cache struct{ Level, Bytes int }

// String is "L1 32 KiB".
func (c Cache) String() string { return fmt.Sprintf("L%d %s", c.Level, Bytes(c.Bytes)) }

// Name is the name of the CPU, on amd64 with family and model, on ARM by its numbers.
func Name() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // only Linux has it
	return name(&cpuid.CPU, runtime.GOARCH, string(text))
}

// name is the name of a CPU of that architecture, of which Linux says cpuinfo.
func name(c *cpuid.CPUInfo, architecture, cpuinfo string) string {
	if architecture == "amd64" && c.Family > 0 {
		return fmt.Sprintf("%s, family %d model %d", c.BrandName, c.Family, c.Model)
	}
	return cmp.Or(c.BrandName, armName(cpuinfo), "unknown "+architecture)
}

// armName is the first core of /proc/cpuinfo of ARM, which has numbers for names:
// those of Arm's Main ID Register.
func armName(cpuinfo string) string {
	numbers := map[string]string{}
	for line := range strings.Lines(cpuinfo) {
		key, value, _ := strings.Cut(line, ":")
		if key = strings.TrimSpace(key); numbers[key] == "" {
			numbers[key] = strings.TrimSpace(value)
		}
	}
	implementer, part := numbers["CPU implementer"], numbers["CPU part"]
	if implementer == "" || part == "" {
		return ""
	}
	return fmt.Sprintf("ARM implementer %s part %s variant %s revision %s", implementer, part, numbers["CPU variant"], numbers["CPU revision"])
}

// Caches are those that are known, from the first level on.
func Caches() []Cache { return caches(&cpuid.CPU, os.DirFS("/sys/devices/system/cpu/cpu0/cache")) }

// caches are those that the CPU knows itself, else those that Linux has in a directory.
func caches(c *cpuid.CPUInfo, directory fs.FS) []Cache {
	var list []Cache
	for i, size := range []int{c.Cache.L1D, c.Cache.L2, c.Cache.L3} {
		if size > 0 {
			list = append(list, Cache{i + 1, size})
		}
	}
	if len(list) == 0 {
		return linuxCaches(directory)
	}
	return list
}

// linuxCaches are those that Linux has a directory of each for. What cannot be read
// is left out.
func linuxCaches(directory fs.FS) []Cache {
	var list []Cache
	names, _ := fs.Glob(directory, "index*") // the pattern is a good one
	for _, name := range names {
		read := func(file string) string {
			text, _ := fs.ReadFile(directory, name+"/"+file)
			return strings.TrimSpace(string(text))
		}
		level, err := strconv.Atoi(read("level"))
		kibibytes, isSize := strings.CutSuffix(read("size"), "K")
		size, sizeErr := strconv.Atoi(kibibytes)
		if err != nil || sizeErr != nil || !isSize || read("type") == "Instruction" {
			continue
		}
		list = append(list, Cache{level, size << 10})
	}
	slices.SortFunc(list, func(a, b Cache) int { return a.Level - b.Level })
	return list
}

// Bytes is a number of bytes in KiB, MiB or GiB.
func Bytes(bytes int) string {
	v, unit := float64(bytes), 0
	for ; v >= 1024 && unit < 3; unit++ {
		v /= 1024
	}
	return fmt.Sprintf("%.4g %s", v, []string{"B", "KiB", "MiB", "GiB"}[unit])
}
