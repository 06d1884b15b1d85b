package main

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// machine is what a figure has to be published with.
type machine struct {
	cpu, caches, system, goVersion, commit, date, command string
	cores                                                 int
	cacheBytes                                            []int // of L1, L2 and L3, where known
}

func thisMachine(command string) machine {
	m := machine{
		cpu: cpuid.CPU.BrandName, system: runtime.GOOS + "/" + runtime.GOARCH, goVersion: runtime.Version(),
		commit: commit(), date: time.Now().UTC().Format(time.DateOnly), command: command, cores: runtime.NumCPU(),
	}
	if m.cpu == "" {
		m.cpu = "unknown " + runtime.GOARCH
	}
	if cpuid.CPU.Family > 0 {
		m.cpu = fmt.Sprintf("%s, family %d model %d", m.cpu, cpuid.CPU.Family, cpuid.CPU.Model)
	}
	var caches []string
	for i, size := range []int{cpuid.CPU.Cache.L1D, cpuid.CPU.Cache.L2, cpuid.CPU.Cache.L3} {
		if size > 0 {
			m.cacheBytes = append(m.cacheBytes, size)
			caches = append(caches, fmt.Sprintf("L%d %s", i+1, binary(size)))
		}
	}
	m.caches = strings.Join(caches, ", ")
	if m.caches == "" {
		m.caches = "unknown"
	}
	return m
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

// header is the configuration of the samples, as go test -bench has it.
func (m machine) header(share float64) string {
	return fmt.Sprintf("goos: %s\ngoarch: %s\npkg: github.com/go-posenc/posenc\ncpu: %s\ncaches: %s\ncores: %d\ngo: %s\ncommit: %s\ndate: %s\ncommand: %s\ncore-share: %.0f%%\n\n",
		runtime.GOOS, runtime.GOARCH, m.cpu, m.caches, m.cores, m.goVersion, m.commit, m.date, m.command, 100*share)
}

// binary is a number of bytes in KiB, MiB or GiB.
func binary(bytes int) string {
	v, unit := float64(bytes), 0
	for ; v >= 1024 && unit < 3; unit++ {
		v /= 1024
	}
	return fmt.Sprintf("%.4g %s", v, []string{"B", "KiB", "MiB", "GiB"}[unit])
}
