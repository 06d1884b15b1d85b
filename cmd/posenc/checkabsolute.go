package main

import (
	"errors"
	"fmt"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
	"github.com/go-posenc/posenc/cmd/posenc/internal/output"
	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/spf13/cobra"
)

// mostTableElements bounds memory and time of check --absolute.
const mostTableElements = 1 << 24

// runCheckAbsolute says which sinusoidal encoding the table in a file is.
func runCheckAbsolute(c *cobra.Command, file string) error {
	result, err := checkAbsolute(file)
	if err != nil {
		return err
	}
	if err := output.Write(c, result); err != nil {
		return err
	}
	switch result.Verdict {
	case ropecheck.Agrees:
		return nil
	case ropecheck.Differs:
		return output.ErrDifferent
	}
	return errors.New("no sinusoidal encoding on one axis explains the table")
}

func checkAbsolute(file string) (*absoluteResult, error) {
	a, err := dumps{}.array(file)
	if err != nil {
		return nil, err
	}
	shape := a.Shape
	for len(shape) > 2 && shape[0] == 1 { // a batch of one
		shape = shape[1:]
	}
	if len(shape) == 3 && shape[1] == 1 { // [positions][1][dim]
		shape = []int{shape[0], shape[2]}
	}
	if len(shape) != 2 {
		return nil, fmt.Errorf("%s has shape %v: want [positions][dim]", input.Name(file), a.Shape)
	}
	if n := shape[0] * shape[1]; n > mostTableElements {
		return nil, fmt.Errorf("%s has shape %v, %d elements: want at most %d", input.Name(file), a.Shape, n, mostTableElements)
	}
	table := ropecheck.AbsoluteTable{Rows: shape[0], Dim: shape[1], Digits: 24}
	switch values := a.Values.(type) {
	case []float64:
		table.Values, table.Digits = values, 53
	default:
		switch values.(type) {
		case []posenc.Float16:
			table.Digits = 11
		case []posenc.BFloat16:
			table.Digits = 8
		}
		numbers, err := a.Float32s()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", input.Name(file), err)
		}
		table.Values = make([]float64, len(numbers))
		for i, v := range numbers {
			table.Values[i] = float64(v)
		}
	}
	report, err := ropecheck.CheckAbsolute(table)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", input.Name(file), err)
	}
	return &absoluteResult{File: file, Type: a.Type, AbsoluteReport: report}, nil
}

// absoluteResult is what check --absolute found.
type absoluteResult struct {
	File string `json:"file"`
	Type string `json:"type"`
	*ropecheck.AbsoluteReport
}

func (r *absoluteResult) WriteText(t *output.Text) {
	t.Printf("%s of %s: ", input.Name(r.File), r.Type)
	switch r.Verdict {
	case ropecheck.Agrees:
		t.Printf("%s\n", t.Good("This is a sinusoidal encoding."))
	case ropecheck.Differs:
		t.Printf("%s\n", t.Bad("This is a sinusoidal encoding with faults."))
	default:
		t.Printf("%s\n", t.Bad("This is not known."))
	}
	t.Printf("%s", r.AbsoluteReport)
}
