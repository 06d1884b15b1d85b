package main

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/go-posenc/posenc/internal/test/cpuname"
)

// machine is what a figure has to be published with.
type machine struct {
	cpu, system, goVersion, commit, date, command string
	cores                                         int
	caches                                        []cpuname.Cache // of data, those that are known
}

func thisMachine(command string) machine {
	return machine{
		cpu: cpuname.Name(), system: runtime.GOOS + "/" + runtime.GOARCH, goVersion: runtime.Version(),
		commit: commit(), date: time.Now().UTC().Format(time.DateOnly), command: command, cores: runtime.NumCPU(), caches: cpuname.Caches(),
	}
}

func (m machine) cacheList() string {
	var list []string
	for _, c := range m.caches {
		list = append(list, c.String())
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
