package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// No argument of a binding escapes, so that a caller's arrays stay on its stack.
func TestNothingEscapes(t *testing.T) {
	for goarch := range assemblers {
		command := exec.Command("go", "build", "-gcflags=-m", "./kernels")
		command.Dir, command.Env = "../..", append(os.Environ(), "GOARCH="+goarch)
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		stays := 0
		for line := range strings.Lines(string(output)) {
			if !strings.HasPrefix(line, "kernels/bind_"+goarch+".go") && !strings.HasPrefix(line, "kernels/loops.go") {
				continue
			}
			if strings.Contains(line, "does not escape") {
				stays++
			} else if regexp.MustCompile(`escapes|moved to heap|leaking`).MatchString(line) {
				t.Error(line)
			}
		}
		if stays < 100 {
			t.Errorf("%s: the compiler says of %d arguments that they do not escape", goarch, stays)
		}
	}
}
