package main

import (
	"fmt"
	"os"
	"time"
)

// progress prints what is being done: on a terminal a line that changes, else a
// line whenever something new begins. Nothing is known yet of something of 0.
type progress struct {
	to       *os.File
	terminal bool
	title    string
	started  time.Time
	printed  time.Time
}

func newProgress(to *os.File) *progress {
	info, err := to.Stat()
	return &progress{to: to, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0, started: time.Now()}
}

func (p *progress) step(title string, done, of int) {
	now := time.Now()
	begins, ends := title != p.title, of > 0 && done == of
	if begins {
		p.title = title
	}
	if !p.terminal {
		if begins {
			fmt.Fprintf(p.to, "%4.0f s  %s\n", now.Sub(p.started).Seconds(), title)
		}
		return
	}
	if begins || ends || now.Sub(p.printed) > 100*time.Millisecond {
		p.printed = now
		fmt.Fprintf(p.to, "\r\x1b[K%4.0f s  %s: %d of %d", now.Sub(p.started).Seconds(), title, done, of)
	}
	if ends {
		fmt.Fprintln(p.to)
	}
}
