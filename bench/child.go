package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/test/measure"
)

// posenc chooses its implementation when a program starts, so that each is
// measured in a process of its own: this program, run with childCommand and
//
//	plan SETTING WHAT     prints the number of cases, then a measure.Plan of each
//	sample SETTING WHAT   reads such plans, prints the number of samples, then the samples
//
// of everything with one goroutine, of shapes, which are rotations and tables alone,
// of goroutines, of caches, of what decides on a threshold, or of bounds on memory of some sizes.
const childCommand = "child"

func child(arguments []string, r io.Reader, w io.Writer) error {
	if len(arguments) != 3 || arguments[0] != "plan" && arguments[0] != "sample" || settings[arguments[1]].runs == 0 {
		return fmt.Errorf("%s %q: expected plan or sample, a setting and what to measure", childCommand, arguments)
	}
	s := settings[arguments[1]]
	cases, err := casesOf(s, arguments[2])
	if err != nil {
		return err
	}
	if arguments[0] == "plan" {
		fmt.Fprintln(w, len(cases))
		for _, c := range cases {
			plan, err := measure.NewPlan(c, s.rounds, s.each)
			if err != nil {
				return err
			}
			if err := json.NewEncoder(w).Encode(plan); err != nil {
				return err
			}
		}
		return nil
	}
	plans, samples, err := readPlans(r)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, samples)
	return measure.Run(cases, plans, s.rounds, func(sample measure.Sample) error { return sample.Print(w) })
}

// readPlans returns plans and the number of their samples.
func readPlans(r io.Reader) (plans []measure.Plan, samples int, err error) {
	d := json.NewDecoder(r)
	for {
		var p measure.Plan
		switch err := d.Decode(&p); err {
		case nil:
			plans, samples = append(plans, p), samples+p.Samples
		case io.EOF:
			return plans, samples, nil
		default:
			return nil, 0, err
		}
	}
}

func casesOf(s setting, what string) ([]measure.Case, error) {
	if what == "goroutines" {
		return goroutineCases(s), nil
	}
	if list, found := strings.CutPrefix(what, cachesOf); found {
		formats, err := formatsOf(list)
		if err != nil {
			return nil, err
		}
		return cacheCases(s, formats), nil
	}
	for _, t := range thresholds {
		if t.name == what {
			return t.measured(s), nil
		}
	}
	if sizes, found := strings.CutPrefix(what, boundsOf); found {
		return boundsOfSizes(sizes)
	}
	return soloCases(s, what == "everything"), nil
}

// soloCases are of one goroutine, in an order that has things to be compared next
// to each other.
func soloCases(s setting, everything bool) []measure.Case {
	implementation, m := posenc.Implementation(), allocate(s, everything)
	var cases []measure.Case
	bounded := map[int]bool{} // bytes whose bounds are among the cases
	addBounds := func(bytes int) {
		if everything && !bounded[bytes] {
			bounded[bytes] = true
			cases = append(cases, boundCases(m.float32s[:bytes/4], "scale", "store", "nontemporal", "twostreams")...)
		}
	}
	for _, r := range rotations(s) {
		addBounds(r.bytes())
		cases = append(cases, r.measured(implementation, m))
	}
	for _, t := range tables(s) {
		addBounds(t.bytes())
		cases = append(cases, t.measured(implementation, m))
	}
	if !everything {
		return cases
	}
	for _, bytes := range s.workingSets {
		addBounds(bytes)
		cases = append(cases, sweepCases(m, bytes)...)
	}
	all := compared()
	for _, c := range comparisons(s) {
		cases = append(cases, c.cases(all, m)...)
	}
	return cases
}

// implementations are those that this machine can run, the fastest first, except
// plain Go where the build gives no figures of it.
func implementations() ([]string, error) {
	var list []string
	for _, impl := range dispatch.Supported() {
		list = append(list, impl.String())
	}
	return withFigures(list, buildSettings())
}

// withFigures takes plain Go off the list where GOEXPERIMENT=simd makes it many times
// slower than it is: docs/hardware.md.
func withFigures(list []string, build []debug.BuildSetting) ([]string, error) {
	for _, s := range build {
		if s.Key == "GOEXPERIMENT" && slices.Contains(strings.Split(s.Value, ","), "simd") {
			list = slices.DeleteFunc(slices.Clone(list), func(name string) bool { return name == "generic" })
		}
	}
	if len(list) == 0 {
		return nil, errors.New("GOEXPERIMENT=simd, and plain Go alone: expected an implementation that it gives figures of")
	}
	return list, nil
}

func command(program, implementation string, arguments ...string) *exec.Cmd {
	c := exec.Command(program, append([]string{childCommand}, arguments...)...)
	c.Env = append(os.Environ(), "POSENC_IMPL="+implementation)
	c.Stderr = os.Stderr
	return c
}

// job is what one process measures.
type job struct {
	program, implementation string
	setting, what           string

	plans   []measure.Plan
	samples int           // of all of them
	started time.Duration // how long it took to start the process
}

// newJob has a process of the program make the plans.
func newJob(program, implementation, setting, what string, p *progress) (job, error) {
	j := job{program: program, implementation: implementation, setting: setting, what: what}
	lines, started, err := p.lines("plan: "+implementation+", "+what, command(program, implementation, "plan", setting, what))
	if err == nil {
		j.started = started
		j.plans, j.samples, err = readPlans(strings.NewReader(strings.Join(lines, "")))
	}
	if err != nil {
		return j, fmt.Errorf("%s, %s: %w", implementation, what, err)
	}
	return j, nil
}

// takes is how long a run should take.
func (j *job) takes() time.Duration {
	sum := j.started
	for _, p := range j.plans {
		sum += p.Time()
	}
	return sum
}

// run has a process take the samples. It had a core for the time ran of what passed.
func (j *job) run(title string, p *progress) (samples []string, ran, passed time.Duration, err error) {
	var plans bytes.Buffer
	for _, plan := range j.plans {
		if err := json.NewEncoder(&plans).Encode(plan); err != nil {
			return nil, 0, 0, err
		}
	}
	c, start := command(j.program, j.implementation, "sample", j.setting, j.what), time.Now()
	c.Stdin = &plans
	samples, _, err = p.lines(title, c)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("%s: %w", title, err)
	}
	return samples, c.ProcessState.UserTime() + c.ProcessState.SystemTime(), time.Since(start), nil
}

// plan makes the jobs of the implementations. Only the fastest is measured with
// everything.
func plan(s setting, p *progress) ([]job, error) {
	list, err := implementations()
	if err != nil {
		return nil, err
	}
	var jobs []job
	for i, implementation := range list {
		parts := []string{"shapes"}
		if i == 0 {
			parts = []string{"everything", "goroutines"}
		}
		for _, part := range parts {
			j, err := newJob(os.Args[0], implementation, s.name, part, p)
			if err != nil {
				return nil, err
			}
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

// measureAll runs the jobs alternately and returns their samples and what share of the
// time they had a core, where one goroutine was at work.
func measureAll(s setting, jobs []job, p *progress) (samples []string, share float64, err error) {
	var ran, passed time.Duration
	for run := range s.runs {
		for _, j := range jobs {
			got, busy, took, err := j.run(fmt.Sprintf("run %d of %d, %s, %s", run+1, s.runs, j.implementation, j.what), p)
			if err != nil {
				return nil, 0, err
			}
			samples = append(samples, got...)
			if j.what != "goroutines" {
				ran, passed = ran+busy, passed+took
			}
		}
	}
	return samples, min(1, ran.Seconds()/passed.Seconds()), nil
}
