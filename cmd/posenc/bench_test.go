package main

import (
	"encoding/csv"
	"reflect"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
)

// The rows of a bench, whose cells have commas, are read back from CSV and are a table of Markdown.
func TestTableFormats(t *testing.T) {
	rows := [][]string{{"cpu", "ns"}, {"EPYC, family 25", "1.5"}}
	if got := testkit.Must(csv.NewReader(strings.NewReader(tableFormats[".csv"](rows))).ReadAll()); !reflect.DeepEqual(got, rows) {
		t.Errorf("CSV: %q", got)
	}
	if got, want := tableFormats[".md"](rows), "| cpu | ns |\n|---|---|\n| EPYC, family 25 | 1.5 |\n"; got != want {
		t.Errorf("Markdown: %q, want %q", got, want)
	}
}
