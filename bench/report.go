package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-posenc/posenc/bench/peers"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/test/cpuname"
)

// undisturbed is the share of a core that a run has on a machine that does nothing
// else: reading the samples and starting processes takes some of it.
const undisturbed = 0.9

// report returns the files of the report by name, except the samples.
func report(s setting, m machine, share float64, r results, curves []curve) (map[string][]byte, error) {
	list := implementationsOf(s, r)
	all := compared()
	var b strings.Builder
	w := func(format string, arguments ...any) { fmt.Fprintf(&b, format, arguments...) }
	// heads begins a table, whose columns are aligned to the left as they are given, then
	// to the right for each name.
	heads := func(left, dashes string, names ...string) {
		w("| %s |", left)
		for _, name := range names {
			w(" %s |", name)
		}
		w("\n|%s|%s\n", dashes, strings.Repeat("--:|", len(names)))
	}
	// others are the figures of the implementations but the first, which end a line.
	others := func(name func(implementation string) string, count int) {
		for _, other := range list[1:] {
			w(" %s (%s x) |", digits(r.time(name(other))/float64(count)), digits(r.time(name(other))/r.time(name(list[0]))))
		}
		w("\n")
	}
	w("# posenc on %s\n\n", m.cpu)
	w("| | |\n|---|---|\n")
	for _, line := range [][2]string{
		{"CPU", fmt.Sprintf("%s; %d cores", m.cpu, m.cores)}, {"caches", m.cacheList()}, {"system", m.system}, {"Go", m.goVersion},
		{"commit", m.commit}, {"date", m.date}, {"command", "`" + m.command + "`"}, {"implementation", list[0]},
		{"share of a core", percent(share)},
	} {
		w("| %s | %s |\n", line[0], line[1])
	}
	fewest, most := r.samples()
	w("\nTimes are medians of at most %d samples taken alternately, of the longest calls %d, on one core where nothing else is said. ± is half the\n", most, fewest)
	w("distance of the quartiles, in percent of the median. GB/s count every byte once: those that a rotation changes in place, and those of both tables.\n")
	w("[raw.txt](raw.txt) has every sample; benchstat reads it.\n")
	if share < undisturbed {
		w("\n**The machine was busy: the measuring processes waited for a core %s of the time. These figures are too slow; do not publish them.**\n", percent(1-share))
	}
	if !slices.Contains(list, "generic") {
		w("\nPlain Go is left out: in a build with GOEXPERIMENT=simd its figures would not be its own (docs/hardware.md).\n")
	}
	if s.name != full.name {
		w("\nThis is the short run: no figures to publish.\n")
	}

	w("\n## Rotation\n\n`posenc.Rotate`, Q of %d and K of %d heads of %d, base %d; it makes the cosines and sines of every token. Scaling float32 in place\nover as many bytes is the bound.\n\n",
		queryHeads, keyHeads, headDim, base)
	heads("tokens | layout | rotated | type", "--:|---|--:|---", append([]string{"ns per token", "±", "GB/s", "of scaling"}, list[1:]...)...)
	for _, x := range rotations(s) {
		ns, bytes := r.time(x.name(list[0])), x.bytes()
		w("| %d | %s | %d | %s | %s | %s | %s | %s |", x.tokens, layoutName(x.layout), x.rotaryDim, x.element, digits(ns/float64(x.tokens)),
			percent(r.spread(x.name(list[0]))), digits(float64(bytes)/ns), percent(float64(bytes)/ns/r.bound("scale", bytes)))
		others(x.name, x.tokens)
	}

	w("\n## Tables\n\n`Rotary.CosSin`, rows of %d pairs, base %d. The bounds are storing as many bytes, plainly, by non-temporal stores,\nand by those to two arrays alternately, as a table is.\n\n", pairs, base)
	heads("rows | angles", "--:|---", append([]string{"ns per row", "ns per pair", "±", "GB/s", "of storing", "of non-temporal", "of two streams"}, list[1:]...)...)
	for _, t := range tables(s) {
		ns, bytes := r.time(t.name(list[0])), t.bytes()
		speed := float64(bytes) / ns
		w("| %d | %s | %s | %s | %s | %s | %s | %s | %s |", t.rows, t.anglesName(), digits(ns/float64(t.rows)), digits(ns/float64(t.rows*pairs)),
			percent(r.spread(t.name(list[0]))), digits(speed),
			percent(speed/r.bound("store", bytes)), percent(speed/r.bound("nontemporal", bytes)), percent(speed/r.bound("twostreams", bytes)))
		others(t.name, t.rows)
	}
	w("\n![GB/s of each implementation](implementations.png)\n")

	w("\n## Costs by size\n\nWhat an element costs by the bytes of a call, which are changed, written or quantized again and again, and below, GB/s.\n\n![ns of an element by size](costs.png)\n\n")
	columns := []string{"scaling", "storing", "non-temporal", "two streams"}
	for _, x := range sweeps {
		columns = append(columns, x.title)
	}
	heads("working set", "--:", columns...)
	for _, bytes := range s.workingSets {
		w("| %s |", cpuname.Bytes(bytes))
		for _, operation := range []string{"scale", "store", "nontemporal", "twostreams"} {
			w(" %s |", r.measured(r.fastest(operation, bytes), bytes))
		}
		for _, x := range sweeps {
			w(" %s |", r.measured(x.name(bytes), bytes))
		}
		w("\n")
	}

	w("\n## Goroutines\n\nEach call starts its goroutines, which share the tokens equally. Efficiency is the speed-up over one goroutine, divided by their number.\n\n")
	w("![Speed-up by goroutines](goroutines.png)\n\n")
	columns = nil
	for _, n := range goroutineCounts() {
		columns = append(columns, fmt.Sprintf("%d: GB/s", n), "efficiency")
	}
	heads("", "---", columns...)
	for _, x := range sharedWork(s) {
		w("| %s |", x.title)
		for _, n := range goroutineCounts() {
			w(" %s | %s |", r.measured(x.name(n), x.bytes), percent(r.time(x.name(1))/r.time(x.name(n))/float64(n)))
		}
		w("\n")
	}

	for _, n := range goroutineCounts()[1:] {
		list := slices.DeleteFunc(sharedWork(s), func(x shared) bool { return x.operation != "rotate" })
		if bytes := pays(list, n, r); bytes > 0 {
			w("\nRotate gains a tenth or more by %d goroutines from %s on.\n", n, cpuname.Bytes(bytes))
		} else {
			w("\nRotate gains less than a tenth by %d goroutines at the largest of these sizes.\n", n)
		}
	}

	w("\n## Accuracy\n\nThe largest error of cosines and sines for heads of %d and base %d, against math/big: %d positions of every octave, all pairs. The exact\nvalue is that of position times frequency, the frequency in float64. Half a unit in the last place of a float32 is at most 2^-25 = 3.0e-8.\n\n",
		headDim, base, s.positions)
	w("![Error by position](accuracy.png)\n\n")
	columns = nil
	for _, c := range curves {
		columns = append(columns, c.title)
	}
	heads("positions below", "--:", columns...)
	for octave := range s.octaves {
		if octave%4 != 3 && octave != s.octaves-1 {
			continue
		}
		w("| 2^%d |", octave+1)
		for _, c := range curves {
			w(" %.1e |", slices.Max(c.worst[:octave+1]))
		}
		w("\n")
	}

	w("\n## Peers\n\nIn the same run and process. The errors are the largest seen here, against math/big: of tables against the exact product. posenc's Float32 has\n")
	w("the frequencies of Hugging Face transformers, a float32 power and then its reciprocal; the other tables of float32 angles round the float64\nfrequency once, and so come closer to the product.\n")
	if _, absent := peers.All(); len(absent) > 0 {
		w("\nAbsent:\n\n")
		for _, peer := range absent {
			w("- %s\n", peer)
		}
	}
	w("\n![Time by peer](peers.png)\n")
	for _, c := range comparisons(s) {
		w("\n### %s\n\n| | ns per %s | ± | times posenc | computes | accuracy | error | in ulps |\n|---|--:|--:|--:|---|---|--:|--:|\n", c.title, c.unit)
		found, ref := c.peers(all, r), c.reference(4*s.positions)
		for _, p := range found {
			ns := r.time(c.name(p)) / float64(c.count)
			e, ulps := "", ""
			if ref != nil {
				absolute, u := ref.worst(p)
				e, ulps = fmt.Sprintf("%.1e", absolute), fmt.Sprintf("%.3g", u)
			}
			name := p.Name
			if p.Version != "" {
				name += ", " + p.Version
			}
			w("| %s | %s | %s | %s | %s | %s | %s | %s |\n", name, digits(ns), percent(r.spread(c.name(p))), digits(r.time(c.name(p))/r.time(c.name(found[0]))), p.Computes, p.Accuracy, e, ulps)
		}
		if ready := c.name(found[0]); strings.HasPrefix(c.operation, "ready-") {
			w("\nposenc has %s of the speed of scaling as many bytes in place.\n", percent(r.speed(ready, c.bytes)/r.bound("scale", c.bytes)))
		}
	}

	files := map[string][]byte{"report.md": []byte(b.String())}
	for name, draw := range map[string]func() ([]byte, error){
		"costs.png":           func() ([]byte, error) { return drawCosts(s, m, r) },
		"implementations.png": func() ([]byte, error) { return drawImplementations(s, r, list) },
		"goroutines.png":      func() ([]byte, error) { return drawGoroutines(s, r) },
		"accuracy.png":        func() ([]byte, error) { return drawAccuracy(curves) },
		"peers.png":           func() ([]byte, error) { return drawPeers(s, r, all) },
	} {
		picture, err := draw()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[name] = picture
	}
	return files, nil
}

// peers are those that were measured, posenc first.
func (c comparison) peers(all []peers.Peer, r results) []*peers.Peer {
	var list []*peers.Peer
	for i := range all {
		p := &all[i]
		if c.computedBy(p) && len(r[c.name(p)]) > 0 {
			list = append(list, p)
		}
	}
	return list
}

// implementationsOf are those that were measured, the fastest first.
func implementationsOf(s setting, r results) []string {
	var list []string
	for _, impl := range dispatch.Supported() {
		if name := impl.String(); len(r[rotations(s)[0].name(name)]) > 0 {
			list = append(list, name)
		}
	}
	return list
}

// digits keeps three.
func digits(v float64) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func percent(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}
