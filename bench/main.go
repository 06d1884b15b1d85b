// Command bench measures posenc on this machine and writes a report: Markdown,
// the samples in the format of Go benchmarks, which benchstat reads, and plots.
//
//	go run -C bench .                        everything; it says how long that takes
//	go run -C bench . -short                 seconds, to see that it runs
//	GOEXPERIMENT=simd go run -C bench .      the peer simd/archsimd too, on amd64; no plain Go
//	go run -C bench -tags cgopeers .         SLEEF and libmvec too, by cgo, on linux/amd64
//	go run -C bench . -tune                  prints what other thresholds would do, no report
//	go run -C bench . -caches                quantized caches alone, by -tags ggml beside ggml
//	go run -C bench . -figures               writes the chart and the tables of the documents from results
//
// The report goes to the directory report, over what is in it, or to the one that -o
// names: -o results/<cpu> publishes it. It has rotation and tables, by shape and by
// implementation, against the bounds that memory sets, against the loops and libraries of
// package peers, by number of goroutines, and the accuracy of angles by position. The
// machine should do nothing else, and have 4 GB to spare.
//
// It is a module of its own, so that importers of posenc do not get the plotting
// library, gonum.org/v1/plot.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-posenc/posenc/bench/peers"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	if len(os.Args) > 1 && os.Args[1] == childCommand {
		if err := child(os.Args[2:], os.Stdin, os.Stdout); err != nil {
			log.Fatal(err)
		}
		return
	}
	short := flag.Bool("short", false, "few shapes, one sample: seconds, and no figures to publish")
	output := flag.String("o", "report", "`directory` to write, over what is in it")
	tuning := flag.Bool("tune", false, "print other values of the thresholds of kernels/tuning.go that the arguments name, or of all, with what they make of the speed")
	figures := flag.Bool("figures", false, "write the figures of the documents from what is in results; nothing is measured")
	caches := flag.Bool("caches", false, "measure quantized caches alone, of the formats that the arguments name, or of all")
	flag.Parse()
	if *figures {
		if flag.NArg() > 0 || given("o") || *short || *tuning || *caches {
			log.Fatal("-figures: expected no other flag and no argument")
		}
		if err := updateFigures(); err != nil {
			log.Fatal(err)
		}
		return
	}
	m := thisMachine(commandLine(os.Args[1:]))
	if *tuning {
		if given("o") {
			log.Fatalf("-o %s: expected none with -tune, which prints", *output)
		}
		s := tuned
		if *short {
			s = tunedShort
		}
		if err := tune(s, flag.Args(), m, os.Stdout, newProgress(os.Stderr)); err != nil {
			log.Fatal(err)
		}
		return
	}
	if *caches {
		s := cached
		if *short {
			s = cachedShort
		}
		if err := runCaches(s, strings.Join(flag.Args(), ","), m, *output, newProgress(os.Stderr)); err != nil {
			log.Fatal(err)
		}
		fmt.Println(filepath.Join(*output, "caches.md"))
		return
	}
	if flag.NArg() > 0 {
		log.Fatalf("argument %q: expected none without -tune or -caches", flag.Arg(0))
	}
	s := full
	if *short {
		s = shortened
	}
	_, absent := peers.All()
	for _, peer := range absent {
		log.Printf("absent: %s", peer)
	}
	if err := run(s, m, *output, newProgress(os.Stderr)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(filepath.Join(*output, "report.md"))
	log.Printf("-o %s publishes such a report", filepath.Join("results", m.slug()))
}

// given says whether the command line has a flag.
func given(name string) (found bool) {
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// commandLine is the command that built and started this program.
func commandLine(arguments []string) string {
	command := commandOf(buildSettings(), arguments)
	if name := os.Getenv("POSENC_IMPL"); name != "" {
		command = "POSENC_IMPL=" + name + " " + command
	}
	return command
}

func buildSettings() []debug.BuildSetting {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Settings
	}
	return nil
}

// commandOf has what changes figures or peers among the settings of a build, where
// it is not what Go does by itself.
func commandOf(build []debug.BuildSetting, arguments []string) string {
	environment, flags := "", ""
	for _, s := range build {
		switch {
		case s.Key == "GOEXPERIMENT", s.Key == "GOAMD64" && s.Value != "v1", s.Key == "GOARM64" && s.Value != "v8.0":
			environment += s.Key + "=" + s.Value + " "
		case s.Key == "-tags":
			flags += s.Key + " " + s.Value + " "
		}
	}
	return strings.Join(append([]string{environment + "go run -C bench " + flags + "."}, arguments...), " ")
}

// run measures everything and writes the directory.
func run(s setting, m machine, directory string, p *progress) error {
	p.say("to begin with, a few calls of everything: they tell how long all of it takes")
	jobs, err := plan(s, p)
	if err != nil {
		return err
	}
	count, all := 0, referenceTime(s)
	for _, j := range jobs {
		count, all = count+s.runs*j.samples, all+time.Duration(s.runs)*j.takes()
	}
	p.say("%d samples follow, and the report: %v", count, all.Round(time.Second))
	planned := time.Now()
	samples, share, err := measureAll(s, jobs, p)
	if err != nil {
		return err
	}
	curves := accuracyCurves(s.octaves, s.positions, p)
	samples = append(samples, accuracyLines(curves)...)
	raw := fmt.Sprintf("%score-share: %.0f%%\n\n%s", m.header(), 100*share, strings.Join(samples, ""))
	results, err := parse(raw)
	if err != nil {
		return err
	}
	files, err := report(s, m, share, results, curves)
	if err != nil {
		return err
	}
	files["raw.txt"] = []byte(raw)
	if err := os.MkdirAll(directory, 0o777); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(directory, name), content, 0o666); err != nil {
			return err
		}
	}
	p.say("the samples and the report took %v, of %v foreseen", time.Since(planned).Round(time.Second), all.Round(time.Second))
	return nil
}
