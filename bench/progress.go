package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
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

// lines runs a command that prints the number of lines that follow, and returns those,
// and when the first came.
func (p *progress) lines(title string, c *exec.Cmd) (lines []string, began time.Duration, err error) {
	output, err := c.StdoutPipe()
	if err != nil {
		return nil, 0, err
	}
	start := time.Now()
	if err := c.Start(); err != nil {
		return nil, 0, err
	}
	p.step(title, 0, 0)
	scanner := bufio.NewScanner(output)
	count := 0
	if scanner.Scan() {
		count, err = strconv.Atoi(scanner.Text())
		began = time.Since(start)
	}
	p.step(title, 0, count)
	for scanner.Scan() {
		lines = append(lines, scanner.Text()+"\n")
		p.step(title, len(lines), count)
	}
	err = errors.Join(err, scanner.Err(), c.Wait())
	if err == nil && len(lines) != count {
		err = fmt.Errorf("%d lines, expected %d", len(lines), count)
	}
	return lines, began, err
}

// say prints a line, after all that is being done.
func (p *progress) say(format string, arguments ...any) {
	fmt.Fprintf(p.to, "%4.0f s  %s\n", time.Since(p.started).Seconds(), fmt.Sprintf(format, arguments...))
}
