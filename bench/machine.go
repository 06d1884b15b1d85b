package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// machine is what a figure has to be published with.
type machine struct {
	cpu, system, goVersion, commit, date, command string
	cores                                         int
	caches                                        []cache // of data, those that are known
}

// cache is one of a core, or shared by several.
type cache struct{ level, bytes int }

func thisMachine(command string) machine {
	return machine{
		cpu: cpuName(), system: runtime.GOOS + "/" + runtime.GOARCH, goVersion: runtime.Version(),
		commit: commit(), date: time.Now().UTC().Format(time.DateOnly), command: command, cores: runtime.NumCPU(), caches: caches(),
	}
}

func cpuName() string {
	c := cpuid.CPU
	switch {
	case runtime.GOARCH == "amd64" && c.Family > 0:
		return fmt.Sprintf("%s, family %d model %d", c.BrandName, c.Family, c.Model)
	case c.BrandName != "":
		return c.BrandName
	}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if name := armName(string(text)); name != "" {
			return name
		}
	}
	return "unknown " + runtime.GOARCH
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

func caches() []cache {
	var list []cache
	for i, size := range []int{cpuid.CPU.Cache.L1D, cpuid.CPU.Cache.L2, cpuid.CPU.Cache.L3} {
		if size > 0 {
			list = append(list, cache{i + 1, size})
		}
	}
	if len(list) == 0 {
		return linuxCaches(os.DirFS("/sys/devices/system/cpu/cpu0/cache"))
	}
	return list
}

// linuxCaches are those that Linux has a directory of each for. What cannot be read
// is left out.
func linuxCaches(directory fs.FS) []cache {
	var list []cache
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
		list = append(list, cache{level, size << 10})
	}
	slices.SortFunc(list, func(a, b cache) int { return a.level - b.level })
	return list
}

func (m machine) cacheList() string {
	var list []string
	for _, c := range m.caches {
		list = append(list, fmt.Sprintf("L%d %s", c.level, binary(c.bytes)))
	}
	if len(list) == 0 {
		return "unknown"
	}
	return strings.Join(list, ", ")
}

// commit is that of the working tree, with a + when it differs from it.
func commit() string {
	id, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	if changes, err := exec.Command("git", "status", "--porcelain", "--", ":/").Output(); err != nil || len(changes) > 0 {
		return strings.TrimSpace(string(id)) + "+"
	}
	return strings.TrimSpace(string(id))
}

// slug is the name of a directory.
func (m machine) slug() string {
	fields := strings.FieldsFunc(strings.ToLower(m.cpu), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(fields, "-")
}

// header is the configuration of samples, as go test -bench has it.
func (m machine) header() string {
	return fmt.Sprintf("goos: %s\ngoarch: %s\npkg: github.com/go-posenc/posenc\ncpu: %s\ncaches: %s\ncores: %d\ngo: %s\ncommit: %s\ndate: %s\ncommand: %s\n",
		runtime.GOOS, runtime.GOARCH, m.cpu, m.cacheList(), m.cores, m.goVersion, m.commit, m.date, m.command)
}

// binary is a number of bytes in KiB, MiB or GiB.
func binary(bytes int) string {
	v, unit := float64(bytes), 0
	for ; v >= 1024 && unit < 3; unit++ {
		v /= 1024
	}
	return fmt.Sprintf("%.4g %s", v, []string{"B", "KiB", "MiB", "GiB"}[unit])
}
