// Package output writes what a command found: for people as text, with colours on
// terminals, or as JSON.
package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fatih/color"
	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// ErrDifferent is the error of a command that has written its result, and whose
// check found a difference: exit code 1.
var ErrDifferent = errors.New("a difference was found")

// SchemaVersion is that of the JSON, which docs/command.schema.json describes. Further fields do not
// raise it; fields that go away or mean something else do.
const SchemaVersion = 1

// Result is what a command found. Its fields are the JSON, after schema_version.
type Result interface {
	// WriteText writes it for people.
	WriteText(t *Text)
}

// Write writes a result to the command's standard output, as the flag --json says.
func Write(c *cobra.Command, r Result) error {
	w := c.OutOrStdout()
	if asJSON, err := c.Flags().GetBool("json"); err == nil && asJSON {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(r); err != nil {
			return err
		}
		fields := bytes.TrimPrefix(b.Bytes(), []byte("{"))
		_, err := fmt.Fprintf(w, "{\n  \"schema_version\": %d,%s", SchemaVersion, fields)
		return input.Plain("standard output", err)
	}
	t := NewText(w)
	r.WriteText(t)
	return input.Plain("standard output", t.err)
}

// Terminal returns the file that w is, where it is a terminal.
func Terminal(w io.Writer) (file *os.File, ok bool) {
	file, ok = w.(*os.File)
	return file, ok && term.IsTerminal(int(file.Fd()))
}

// Text is text for people. The first error of writing sticks.
type Text struct {
	w      io.Writer
	colour bool
	err    error
}

// NewText returns text that goes to w, with colours where w is a terminal, unless the
// environment has NO_COLOR (no-color.org) or the terminal has none.
func NewText(w io.Writer) *Text {
	_, terminal := Terminal(w)
	return &Text{w: w, colour: terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// Colour says whether text may have colours.
func (t *Text) Colour() bool { return t.colour }

// Width is how many columns the terminal has to which text goes, 80 where it is none, or what the
// environment has as COLUMNS; at least 30.
func (t *Text) Width() int {
	width, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || width <= 0 {
		width = 80
		if file, ok := Terminal(t.w); ok {
			if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
				width = columns
			}
		}
	}
	return max(width, 30)
}

// Wrap writes words in a style, Heading for example, in lines that fit the terminal. Before the first
// is head, of indent columns, before the others as much room.
func (t *Text) Wrap(head string, indent int, words string, style func(string) string) {
	line := ""
	for word := range strings.FieldsSeq(words) {
		if line != "" && indent+utf8.RuneCountInString(line+" "+word) > t.Width() {
			t.Printf("%s%s\n", head, style(line))
			head, line = strings.Repeat(" ", indent), ""
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	t.Printf("%s%s\n", head, style(line))
}

// Printf writes text.
func (t *Text) Printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

// Heading is text that begins a part.
func (t *Text) Heading(s string) string { return t.style(s, color.Bold) }

// Good is text that says that something is as it should be.
func (t *Text) Good(s string) string { return t.style(s, color.FgGreen) }

// Bad is text that says that something is not as it should be.
func (t *Text) Bad(s string) string { return t.style(s, color.FgRed) }

// Aside is text that matters less.
func (t *Text) Aside(s string) string { return t.style(s, color.Faint) }

func (t *Text) style(s string, attribute color.Attribute) string {
	if !t.colour {
		return s
	}
	c := color.New(attribute)
	c.EnableColor()
	return c.Sprint(s)
}

// Table writes rows of cells below one another. Columns are as wide as their widest
// cell. Cells have no colours: what style returns has characters without a width.
func (t *Text) Table(indent string, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		t.Printf("%s", indent)
		for i, cell := range row {
			if i == len(row)-1 {
				t.Printf("%s\n", cell)
			} else {
				t.Printf("%-*s  ", widths[i], cell)
			}
		}
	}
}
