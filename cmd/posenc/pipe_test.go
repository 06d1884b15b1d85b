//go:build linux || darwin

package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// To open a named pipe would wait for a program that writes to it.
func TestNamedPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "config.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no named pipes: ", err)
	}
	config := filepath.Join(configs, "Llama-3.2-1B.json")
	for _, arguments := range [][]string{
		{"inspect", pipe}, {"inspect", filepath.Dir(pipe)}, {"check", config, pipe, pipe},
	} {
		var stdout, stderr strings.Builder
		if code := run(arguments, &stdout, &stderr); code != exitError || !strings.Contains(stderr.String(), "config.json: n") {
			t.Errorf("%q: exit code %d, %s", arguments, code, stderr.String())
		}
	}
}
