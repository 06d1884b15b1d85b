package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/go-posenc/posenc/cmd/posenc/internal/array"
	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
)

// dumps are the files that check reads arrays from, each read once: a pipe has its arrays once.
type dumps map[string]*array.File

// array reads an array: FILE, or FILE:NAME where the file has several.
func (d dumps) array(argument string) (*array.Array, error) {
	path, name := argument, ""
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if i := strings.LastIndexByte(argument, ':'); i > 1 { // C:\dump.npy is a file
			path, name = argument[:i], argument[i+1:]
		}
	}
	f := d[path]
	if f == nil {
		var err error
		if f, err = array.ReadFile(path); err != nil {
			return nil, err
		}
		d[path] = f
	}
	full := func(a *array.Array) (*array.Array, error) {
		if slices.Contains(a.Shape, 0) {
			return nil, fmt.Errorf("%s: shape %v: want no dimension of 0", input.Name(argument), a.Shape)
		}
		return a, nil
	}
	var names []string
	for i := range f.Arrays {
		if f.Arrays[i].Name == name {
			return full(&f.Arrays[i])
		}
		names = append(names, fmt.Sprintf("%q", f.Arrays[i].Name))
	}
	switch {
	case len(f.Arrays) == 0:
		return nil, fmt.Errorf("%s: no arrays", input.Name(path))
	case name == "" && len(f.Arrays) == 1:
		return full(&f.Arrays[0])
	case len(names) > 20:
		names = append(names[:20], "...")
	}
	if name == "" {
		return nil, fmt.Errorf("%s: want FILE:NAME, the name of one of its arrays: %s", input.Name(argument), strings.Join(names, ", "))
	}
	if len(names) == 1 && names[0] == `""` {
		return nil, fmt.Errorf("%s: no array %q; the file is one array without a name", input.Name(path), name)
	}
	return nil, fmt.Errorf("%s: no array %q; there are %s", input.Name(path), name, strings.Join(names, ", "))
}

// positions reads a list, also one for each axis, or an array, with its shape: of lists
// [axes][1][tokens]. None is nil.
func (d dumps) positions(argument string) ([]int32, []int, error) {
	if argument != input.Stdin && strings.Trim(argument, "0123456789,-/ ") == "" {
		axes, err := parsePositions(argument)
		if axes == nil || err != nil {
			return nil, nil, err
		}
		return slices.Concat(axes...), []int{len(axes), 1, len(axes[0])}, nil
	}
	a, err := d.array(argument)
	if err != nil {
		return nil, nil, fmt.Errorf("--positions: %w", err)
	}
	positions, err := a.Int32s()
	if err != nil {
		return nil, nil, fmt.Errorf("--positions %s: %w", input.Name(argument), err)
	}
	return positions, a.Shape, nil
}
