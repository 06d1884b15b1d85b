package main

import (
	"fmt"

	"github.com/go-posenc/posenc/cmd/posenc/internal/output"
	"github.com/go-posenc/posenc/cmd/posenc/internal/progress"
	"github.com/go-posenc/posenc/internal/llama"
	"github.com/spf13/cobra"
)

func newBench() *cobra.Command {
	var short, measure bool
	c := &cobra.Command{
		Use:   "bench",
		Short: "Time the rotation of Llama 3 8B on this machine, and compare bits",
		Long: `Rotate Q and K of Llama 3 8B by every implementation that this machine runs, time each beside the
loop in plain Go that engines write, and compare their bits with those of plain Go. It takes some ten
seconds; the machine should do nothing else meanwhile.

Exit codes: 0 done, 1 bits differ, 2 wrong usage, or a result that cannot be written.`,
		Example: "  posenc bench\n  posenc bench --short --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if measure {
				return llama.MeasureChild(short, c.OutOrStdout())
			}
			bar := progress.Start(c, "bench", llama.Steps())
			report, err := llama.Compare(short, []string{"bench", "--measure", fmt.Sprintf("--short=%t", short)}, func() { bar.Step(1) })
			bar.Done()
			if err != nil {
				return err
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
	c.Flags().BoolVar(&measure, "measure", false, "measure this process and write JSON")
	_ = c.Flags().MarkHidden("measure") // the flag is there
	return c
}

// benchResult is what was measured.
type benchResult struct{ *llama.Report }

func (r *benchResult) WriteText(t *output.Text) { t.Printf("%s", r.Report) }
