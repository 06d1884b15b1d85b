// Command bench measures posenc on this machine and writes a report: Markdown,
// the samples in the format of Go benchmarks, which benchstat reads, and plots.
//
//	go run -C bench .                        a few minutes
//	go run -C bench . -short -o /tmp/bench   seconds, to see that it runs
//	GOEXPERIMENT=simd go run -C bench .      the peer simd/archsimd too
//	go run -C bench -tags cgopeers .         SLEEF and libmvec too, by cgo
//
// The report goes to results/<cpu>. It has rotation and tables, by shape and
// by implementation, against the bounds that memory sets, against the loops and
// libraries of package peers, by number of goroutines, and the accuracy of angles
// by position. The machine should do nothing else, and have 2 GB to spare.
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
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	if len(os.Args) > 1 && os.Args[1] == childCommand {
		if err := child(os.Args[2:], os.Stdout); err != nil {
			log.Fatal(err)
		}
		return
	}
	short := flag.Bool("short", false, "few shapes, one sample: seconds, and no figures to publish")
	output := flag.String("o", "", "directory to write; empty: results/<cpu>")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("argument %q: expected none", flag.Arg(0))
	}
	s := full
	if *short {
		s = shortened
	}
	m := thisMachine(strings.Join(append([]string{"go run -C bench ."}, os.Args[1:]...), " "))
	if *output == "" {
		*output = filepath.Join("results", m.slug())
	}
	if err := run(s, m, *output, newProgress(os.Stderr)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(filepath.Join(*output, "report.md"))
}

// run measures everything and writes the directory.
func run(s setting, m machine, directory string, p *progress) error {
	samples, share, err := measureAll(s, p)
	if err != nil {
		return err
	}
	curves, err := accuracyCurves(s.octaves, s.positions, p)
	if err != nil {
		return err
	}
	samples = append(samples, accuracyLines(curves)...)
	raw := m.header(share) + strings.Join(samples, "")
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
	return nil
}
