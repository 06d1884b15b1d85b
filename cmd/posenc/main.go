// Command posenc says on the command line what package posenc knows: which part of a
// head a model rotates and by which angles, vectors for the tests of others, and how fast
// this machine rotates. docs/command.md describes it.
//
//	posenc inspect config.json
//
// It is a module of its own, so that importers of posenc do not get what it needs.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
	"github.com/go-posenc/posenc/cmd/posenc/internal/output"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exit codes.
const (
	exitOK        = 0
	exitDifferent = 1 // a check found a difference
	exitError     = 2 // wrong usage, input that cannot be read, or a result that cannot be written
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run runs the command that the arguments name and returns the exit code.
func run(arguments []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(arguments)
	root.SetOut(stdout)
	root.SetErr(stderr)
	refuseUnknown(root)
	command, err := root.ExecuteC()
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, output.ErrDifferent):
		return exitDifferent
	}
	fmt.Fprintf(stderr, "%s: %s\n", command.CommandPath(), input.Printable(err.Error()))
	if errors.As(err, new(argumentError)) {
		fmt.Fprintf(stderr, "%s", command.UsageString())
	}
	return exitError
}

// argumentError is the error of arguments that a command does not take: its usage is shown.
type argumentError struct{ error }

// newRoot is the command without a name, with all others below it.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "posenc",
		Short: "What does this model rotate, and what went wrong?",
		Long: `What does this model rotate, and what went wrong?

FILE is a config.json of the Hugging Face Hub, the folder of a model, or a GGUF file,
of which only the header is read.

Exit codes: 0 done, 1 a check found a difference, 2 wrong usage or input.`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          knownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.PersistentFlags().Bool("json", false, "write JSON")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) {
			var names []string
			c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
			if meant := nearest(unknown.GetSpecifiedName(), names, "--"); meant != "" {
				return fmt.Errorf("%w%s", err, meant)
			}
		}
		var invalid *pflag.InvalidValueError
		if errors.As(err, &invalid) {
			flag := invalid.GetFlag()
			words := map[string]string{"float64": "a number", "int": "a whole number", "bool": "true or false"}
			err = fmt.Errorf("--%s %s: want %s", flag.Name, invalid.GetValue(), words[flag.Value.Type()])
		}
		return fmt.Errorf("%w; see %s --help", err, c.CommandPath())
	})
	root.AddCommand(
		newInspect(),
		newCheck(),
		newVectors(),
		newPlot(),
		newBench(),
		newInfo(),
	)
	for _, c := range root.Commands() {
		if !strings.Contains(c.Long, "Exit codes:") {
			c.Long += "\n\nExit codes: 0 done, 2 wrong usage or input, or a result that cannot be written."
		}
		check := c.Args
		c.Args = func(c *cobra.Command, arguments []string) error {
			if err := check(c, arguments); err != nil {
				return argumentError{err}
			}
			return nil
		}
	}
	return root
}

// knownCommand are the Args of a command that has others below it.
func knownCommand(c *cobra.Command, arguments []string) error {
	if len(arguments) > 0 {
		return unknownCommand(c, arguments[0])
	}
	return nil
}

func unknownCommand(c *cobra.Command, name string) error {
	var names []string
	for _, one := range c.Commands() {
		if one.IsAvailableCommand() {
			names = append(names, one.Name())
		}
	}
	return fmt.Errorf("unknown command %q for %q%s", name, c.CommandPath(), nearest(name, names, ""))
}

// nearest asks whether a name was meant that is like what was typed: it begins so, or is a letter
// away, or two.
func nearest(typed string, names []string, prefix string) string {
	all := &cobra.Command{}
	for _, name := range names {
		all.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	for all.SuggestionsMinimumDistance = 1; all.SuggestionsMinimumDistance <= 2; all.SuggestionsMinimumDistance++ {
		if list := all.SuggestionsFor(typed); len(list) > 0 {
			return "; did you mean " + prefix + strings.Join(list, " or "+prefix) + "?"
		}
	}
	return ""
}

// refuseUnknown makes the commands of cobra fail, as all others do, where an argument names
// no command. The output of root is set: the command completion keeps it.
func refuseUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(c *cobra.Command, arguments []string) error {
				found, rest, err := root.Find(arguments)
				if err == nil && len(rest) > 0 {
					err = unknownCommand(found, rest[0])
				}
				return err
			}
		case "completion":
			c.Args, c.RunE = knownCommand, func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}
