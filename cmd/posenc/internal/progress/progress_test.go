package progress

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/spf13/cobra"
)

// A bar is shown on a terminal, and only of what takes over a second.
func TestBar(t *testing.T) {
	c := &cobra.Command{}
	steps := func(longer bool) {
		b := Start(c, "vectors", 4)
		if longer {
			b.started = b.started.Add(-2 * time.Second)
		}
		for range 4 {
			b.Step(1)
		}
		b.Done()
	}
	var pipe bytes.Buffer
	c.SetErr(&pipe)
	if steps(true); pipe.Len() > 0 {
		t.Errorf("a pipe has %q", &pipe)
	}
	for _, longer := range []bool{false, true} {
		screen, terminal, err := pty.Open()
		if err != nil {
			t.Skip("no terminal: ", err)
		}
		c.SetErr(terminal)
		steps(longer)
		terminal.Close()
		text, _ := io.ReadAll(screen) // on Linux an error where the other end is closed
		screen.Close()
		if shown := strings.Contains(string(text), "vectors") && strings.Contains(string(text), "/4"); shown != longer {
			t.Errorf("longer than a second %t: %q", longer, text)
		}
	}
}
