package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-posenc/posenc/cmd/posenc/internal/chart"
	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
	"github.com/go-posenc/posenc/cmd/posenc/internal/output"
	"github.com/go-posenc/posenc/cmd/posenc/internal/source"
	"github.com/spf13/cobra"
)

func newPlot() *cobra.Command {
	var out, only string
	var names, lines []string
	for _, c := range charts {
		names = append(names, c.name)
		lines = append(lines, fmt.Sprintf("  %-11s  %s", c.name, c.says))
	}
	c := &cobra.Command{
		Use:   "plot [FILE...]",
		Short: "Draw frequencies against the context length, tables, dot products and errors",
		Long: "Draw the rotations of one or several models, or a chart that takes no FILE: in a picture with --out,\nelse in the terminal. The charts:\n\n" +
			strings.Join(lines, "\n"),
		Example: `  posenc plot config.json
  posenc plot --out rotations.png Llama-3.1-8B/config.json gemma-3-1b-it.gguf
  posenc plot --chart products --out products.svg config.json
  posenc plot --chart sinusoidal`,
		Args: func(c *cobra.Command, files []string) error {
			i := slices.IndexFunc(charts, func(one plotChart) bool { return one.name == only })
			switch {
			case only != "" && i < 0:
				return fmt.Errorf("--chart %s: want %s", only, strings.Join(names, ", "))
			case i >= 0 && charts[i].alone:
				return cobra.ExactArgs(0)(c, files)
			}
			return cobra.MinimumNArgs(1)(c, files)
		},
		RunE: func(c *cobra.Command, files []string) error {
			var result plotResult
			if out != "" {
				if !chart.IsPicture(out) {
					return fmt.Errorf("--out %s: want a name that ends in .png or .svg", input.Name(out))
				}
				if err := output.CheckOut(out, false); err != nil {
					return err
				}
			}
			list, err := loadRotations(files)
			if err != nil {
				return err
			}
			for _, one := range charts {
				if only != one.name && (only != "" || one.alone) {
					continue
				}
				drawing, err := one.of(list)
				if err != nil {
					return err
				}
				drawing.Name = one.name
				result.Charts = append(result.Charts, drawing)
			}
			if out == "" {
				return output.Write(c, &result)
			}
			return chart.WritePicture(out, result.Charts)
		},
	}
	c.Flags().StringVar(&out, "out", "", "picture to write, its name ends in .png or .svg; absent: draw in the terminal")
	c.Flags().StringVar(&only, "chart", "", "draw one chart: "+strings.Join(names, ", ")+"; absent: all of FILE")
	if err := errors.Join(
		c.RegisterFlagCompletionFunc("chart", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)),
		c.MarkFlagFilename("out", "png", "svg"),
	); err != nil {
		panic(err) // a flag of another name
	}
	return c
}

// loadRotations returns what the models rotate, rotations with the same frequencies once.
func loadRotations(files []string) ([]rotation, error) {
	var list []rotation
	for _, file := range files {
		s, err := source.Load(file)
		if err != nil {
			return nil, err
		}
		found, err := rotations(s)
		if err != nil {
			return nil, err
		}
		list = append(list, sameFrequencies(found)...)
	}
	if len(list) > chart.MaxCurves {
		return nil, fmt.Errorf("%d rotations of %d files: want at most %d in a chart", len(list), len(files), chart.MaxCurves)
	}
	return list, nil
}

type plotResult struct {
	Charts []chart.Chart `json:"charts"`
}

func (r *plotResult) WriteText(t *output.Text) {
	for i := range r.Charts {
		if i > 0 {
			t.Printf("\n")
		}
		r.Charts[i].WriteText(t)
	}
}
