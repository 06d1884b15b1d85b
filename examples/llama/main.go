// Command llama rotates Q and K of Llama 3 8B on every path of this machine,
// times each against the plain Go loop that engines write today, and checks
// that all of them give the bits of plain Go.
//
//	go run ./examples/llama [-short]
//
// It exits with 1 where bits differ.
//
// A program's path is chosen once, when it starts, so llama runs itself anew
// for each path with POSENC_IMPL set. The loop is measured once.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/go-posenc/posenc/internal/test/speed"
)

var (
	short   = flag.Bool("short", false, "a small, quick run")
	measure = flag.Bool("measure", false, "measure one path and write JSON, as llama runs itself")
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("llama: ")
	flag.Parse()
	if *measure {
		if err := speed.MeasureChild(*short, os.Stdout); err != nil {
			log.Fatal(err)
		}
		return
	}
	report, err := speed.Compare(*short, []string{"-measure", fmt.Sprintf("-short=%t", *short)}, func() {})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(report)
	if !report.Same() {
		os.Exit(1)
	}
}
