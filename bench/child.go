package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/bench/measure"
)

// posenc chooses its implementation when a program starts, so that each is
// measured in a process of its own: this program, run with childCommand and
//
//	which                 prints the implementation
//	SETTING everything    prints the number of samples, then the samples, of one goroutine
//	SETTING goroutines    the same of several
//	SETTING shapes        the same of rotations and tables alone, of one goroutine
const childCommand = "child"

func child(arguments []string, w io.Writer) error {
	if len(arguments) == 1 && arguments[0] == "which" {
		_, err := fmt.Fprintln(w, posenc.Implementation())
		return err
	}
	if len(arguments) != 2 || settings[arguments[0]].runs == 0 {
		return fmt.Errorf("%s %q: expected which, or a setting and what to measure", childCommand, arguments)
	}
	s := settings[arguments[0]]
	cases, err := casesOf(s, arguments[1])
	if err != nil {
		return err
	}
	plan, err := measure.NewPlan(cases, s.rounds, s.each)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w, plan.Samples()); err != nil {
		return err
	}
	return plan.Run(func(sample measure.Sample) error { return sample.Print(w) })
}

func casesOf(s setting, what string) ([]measure.Case, error) {
	if what == "goroutines" {
		return goroutineCases(s)
	}
	return soloCases(s, what == "everything")
}

// soloCases are of one goroutine, in an order that has things to be compared next
// to each other.
func soloCases(s setting, everything bool) ([]measure.Case, error) {
	implementation, m := posenc.Implementation(), allocate(s, everything)
	var cases []measure.Case
	var failed error
	add := func(c measure.Case, err error) {
		failed = errors.Join(failed, err)
		cases = append(cases, c)
	}
	bounded := map[int]bool{} // bytes whose bounds are among the cases
	addBounds := func(bytes int) {
		if everything && !bounded[bytes] {
			bounded[bytes] = true
			cases = append(cases, boundCases(m, bytes)...)
		}
	}
	for _, r := range rotations(s) {
		addBounds(r.bytes())
		add(r.measured(implementation, m))
	}
	for _, t := range tables(s) {
		addBounds(t.bytes())
		add(t.measured(implementation, m))
	}
	if !everything {
		return cases, failed
	}
	for _, bytes := range s.workingSets {
		addBounds(bytes)
		swept, err := sweepCases(m, bytes)
		failed = errors.Join(failed, err)
		cases = append(cases, swept...)
	}
	all, err := compared()
	failed = errors.Join(failed, err)
	for _, c := range comparisons(s) {
		cases = append(cases, c.cases(all, m)...)
	}
	return cases, failed
}

// implementations are those that this machine can run, the fastest first.
func implementations() ([]string, error) {
	var list []string
	for _, name := range []string{"avx512", "avx2", "neon", "generic"} {
		got, err := command(name, "which").Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if strings.TrimSpace(string(got)) == name {
			list = append(list, name)
		}
	}
	return list, nil
}

func command(implementation string, arguments ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], append([]string{childCommand}, arguments...)...)
	c.Env = append(os.Environ(), "POSENC_IMPL="+implementation)
	c.Stderr = os.Stderr
	return c
}

// measureAll runs the implementations in turns and returns their samples and what
// share of the time they had a core, where one goroutine was at work. Only the
// fastest is measured with everything.
func measureAll(s setting, p *progress) (samples []string, share float64, err error) {
	list, err := implementations()
	if err != nil {
		return nil, 0, err
	}
	var ran, passed time.Duration
	for run := range s.runs {
		for i, implementation := range list {
			parts := []string{"shapes"}
			if i == 0 {
				parts = []string{"everything", "goroutines"}
			}
			for _, part := range parts {
				title := fmt.Sprintf("run %d of %d, %s, %s", run+1, s.runs, implementation, part)
				c, started := command(implementation, s.name, part), time.Now()
				got, err := measured(c, func(done, of int) { p.step(title, done, of) })
				if err != nil {
					return nil, 0, fmt.Errorf("%s: %w", implementation, err)
				}
				samples = append(samples, got...)
				if part != "goroutines" {
					ran += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
					passed += time.Since(started)
				}
			}
		}
	}
	return samples, min(1, ran.Seconds()/passed.Seconds()), nil
}

func measured(c *exec.Cmd, step func(done, of int)) (samples []string, err error) {
	output, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	step(0, 0)
	lines := bufio.NewScanner(output)
	count := 0
	if lines.Scan() {
		count, err = strconv.Atoi(lines.Text())
	}
	step(0, count)
	for lines.Scan() {
		samples = append(samples, lines.Text()+"\n")
		step(len(samples), count)
	}
	err = errors.Join(err, lines.Err(), c.Wait())
	if err == nil && len(samples) != count {
		err = fmt.Errorf("%d samples, expected %d", len(samples), count)
	}
	return samples, err
}
