// Package progress shows how far a command is.
package progress

import (
	"time"

	"github.com/go-posenc/posenc/cmd/posenc/internal/output"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
)

// patience is how long a command works before it says how far it is.
const patience = time.Second

// Bar is a line on standard error. It is shown on terminals only, and only of what takes
// over a second. One goroutine uses it.
type Bar struct {
	command *cobra.Command
	label   string
	count   int
	done    int
	started time.Time
	bar     *progressbar.ProgressBar // nil: not shown
}

// Start begins a bar of count steps.
func Start(c *cobra.Command, label string, count int) *Bar {
	return &Bar{command: c, label: label, count: count, started: time.Now()}
}

// Step says that further steps are done.
func (b *Bar) Step(steps int) {
	b.done += steps
	if b.bar == nil {
		file, terminal := output.Terminal(b.command.ErrOrStderr())
		if !terminal || time.Since(b.started) < patience {
			return
		}
		b.bar = progressbar.NewOptions(b.count,
			progressbar.OptionSetWriter(file),
			progressbar.OptionSetDescription(b.label),
			progressbar.OptionShowCount(),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish())
	}
	// The only error is that of a count beyond the end, which shows a full bar.
	_ = b.bar.Set(min(b.done, b.count))
}

// Done takes the bar away.
func (b *Bar) Done() {
	if b.bar != nil {
		_ = b.bar.Clear() // a terminal that is gone shows nothing
	}
}
