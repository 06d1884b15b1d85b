package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-posenc/posenc/cmd/posenc/internal/output"
	"github.com/go-posenc/posenc/cmd/posenc/internal/source"
	"github.com/go-posenc/posenc/modelconfig"
)

// candidates are readings of a config.json whose type is not known, as the types that read all of its
// keys. The most types come first.
type candidates struct {
	File     string      `json:"file"`
	Error    string      `json:"error"`
	Readings []candidate `json:"candidates"`
}

// candidate is a reading that some types share.
type candidate struct {
	Types       []string          `json:"types"`
	Text        *modelDescription `json:"text"`
	Differences []differs         `json:"differences"` // from the first candidate
}

const mostReadings = 8 // shown as text

// candidatesOf returns nil where the error is not that the type is not known, and where no type
// reads the file.
func candidatesOf(err error) *candidates {
	var unknown *source.UnknownType
	if !errors.As(err, &unknown) {
		return nil
	}
	c := &candidates{File: unknown.Path, Error: err.Error()}
	for _, name := range modelconfig.Candidates(unknown.Config) {
		m, err := modelconfig.HuggingFace(unknown.Config, modelconfig.Options{Type: name})
		if err != nil {
			continue
		}
		d, err := describe(&source.Source{Path: unknown.Path, Format: source.HuggingFace, Model: m})
		if err != nil {
			continue
		}
		same := func(other candidate) bool { return len(differencesOf(other.Text, d.Text)) == 0 }
		if at := slices.IndexFunc(c.Readings, same); at >= 0 {
			c.Readings[at].Types = append(c.Readings[at].Types, name)
		} else {
			c.Readings = append(c.Readings, candidate{Types: []string{name}, Text: d.Text})
		}
	}
	if c.Readings == nil {
		return nil
	}
	slices.SortStableFunc(c.Readings, func(a, b candidate) int { return len(b.Types) - len(a.Types) })
	for i := range c.Readings {
		r := &c.Readings[i]
		r.Differences = differencesOf(c.Readings[0].Text, r.Text)
	}
	return c
}

// differencesOf are those of two readings of one file, where another order of pairs is one too.
func differencesOf(a, b *modelDescription) []differs {
	d := compare(&description{Text: a}, &description{Text: b})
	pairs := func(d differs) bool { return d.What == "pairs" }
	if a.Kinds[0].layout != b.Kinds[0].layout && !slices.ContainsFunc(d.Differences, pairs) {
		d.differ(layersText(b.Kinds[0].Layers, b.Layers), "pairs", a.Kinds[0].Layout, b.Kinds[0].Layout)
	}
	return d.Differences
}

func (c *candidates) WriteText(t *output.Text) {
	t.Printf("%s\n\nThese types have all keys of the file. Options.Type of package modelconfig reads it as one of them:\ntake the one whose code is the model's.\n", c.Error)
	for i := range c.Readings {
		if i == mostReadings {
			more := 0
			for _, r := range c.Readings[i:] {
				more += len(r.Types)
			}
			t.Printf("\nand %d more readings, of %d types: --json has them.\n", len(c.Readings)-i, more)
			break
		}
		r := &c.Readings[i]
		names := r.Types
		if len(names) > 8 {
			names = append(slices.Clone(names[:8]), fmt.Sprintf("%d others", len(r.Types)-8))
		}
		t.Printf("\n%s\n", t.Heading(strings.Join(names, ", ")))
		if i > 0 {
			var rows [][]string
			for _, d := range r.Differences {
				rows = append(rows, []string{d.Where, d.What, d.Second})
			}
			t.Table("  ", rows)
			continue
		}
		for j := range r.Text.Kinds {
			t.Printf("  %s\n", r.Text.title(&r.Text.Kinds[j]))
			t.Table("    ", r.Text.rows(&r.Text.Kinds[j]))
		}
	}
}
