package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
	"github.com/go-posenc/posenc/cmd/posenc/internal/output"
	"github.com/go-posenc/posenc/cmd/posenc/internal/progress"
	"github.com/go-posenc/posenc/internal/test/cpuname"
	"github.com/go-posenc/posenc/internal/test/speed"
	"github.com/spf13/cobra"
)

func newBench() *cobra.Command {
	var short, measure bool
	var out string
	c := &cobra.Command{
		Use:   "bench",
		Short: "Time the rotation of Llama 3 8B on this machine, and compare bits",
		Long: `Rotate Q and K of Llama 3 8B by every implementation that this machine runs, time each beside the
loop in plain Go that engines write, and compare their bits with those of plain Go. It takes some ten
seconds; the machine should do nothing else meanwhile.

Exit codes: 0 done, 1 bits differ, 2 wrong usage, or a result that cannot be written.`,
		Example: "  posenc bench\n  posenc bench --short --json\n  posenc bench --out bench.csv",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if measure {
				return speed.MeasureChild(short, c.OutOrStdout())
			}
			if out != "" {
				if tableFormats[filepath.Ext(out)] == nil {
					return fmt.Errorf("--out %s: want a name that ends in .csv or .md", input.Name(out))
				}
				if err := output.CheckOut(out, false); err != nil {
					return err
				}
			}
			bar := progress.Start(c, "bench", speed.Steps())
			report, err := speed.Compare(short, []string{"bench", "--measure", fmt.Sprintf("--short=%t", short)}, func() { bar.Step(1) })
			bar.Done()
			if err != nil {
				return err
			}
			if out != "" {
				table := tableFormats[filepath.Ext(out)](machineRows(report.Rows()))
				if err := os.WriteFile(out, []byte(table), 0o666); err != nil {
					return input.Plain(out, err)
				}
			}
			if err := output.Write(c, &benchResult{report}); err != nil {
				return err
			}
			if !report.Same() {
				return output.ErrDifferent
			}
			return nil
		},
	}
	c.Flags().BoolVar(&short, "short", false, "a prefill of 512 tokens in place of 4096")
	c.Flags().StringVar(&out, "out", "", "file to write a table to as well, .csv or .md (Markdown)")
	c.Flags().BoolVar(&measure, "measure", false, "measure this process and write JSON")
	if err := errors.Join(c.Flags().MarkHidden("measure"), c.MarkFlagFilename("out", "csv", "md")); err != nil {
		panic(err) // a flag of another name
	}
	return c
}

// machineRows have the machine in front of each row.
func machineRows(rows [][]string) (of [][]string) {
	machine := []string{"cpu", "system", "go"}
	for _, row := range rows {
		of = append(of, slices.Concat(machine, row))
		machine = []string{cpuname.Name(), runtime.GOOS + "/" + runtime.GOARCH, runtime.Version()}
	}
	return of
}

// tableFormats write rows, the first of which are titles, by the ending of a file.
var tableFormats = map[string]func(rows [][]string) string{
	".csv": func(rows [][]string) string {
		var b strings.Builder
		_ = csv.NewWriter(&b).WriteAll(rows) // a Builder has no errors
		return b.String()
	},
	".md": func(rows [][]string) string {
		var b strings.Builder
		for i, row := range rows {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
			if i == 0 {
				fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(row)))
			}
		}
		return b.String()
	},
}

// benchResult is what was measured.
type benchResult struct{ *speed.Report }

func (r *benchResult) WriteText(t *output.Text) { t.Printf("%s", r.Report) }
