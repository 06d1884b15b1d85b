// Command vectors reads a set of golden vectors and prints of each array the name, the type, the shape
// and the sum of its elements.
//
//	go run . 1
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
)

// read calls f with each array of a folder.
func read(folder string, f func(name, kind, shape string, values []float64)) error {
	index, err := os.ReadFile(folder + "/index.txt")
	if err != nil {
		return err
	}
	data, err := os.ReadFile(folder + "/data.bin")
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(index)), "\n")
	if lines[0] != "posenc-vectors 1" {
		return fmt.Errorf("%s: another version: %q", folder, lines[0])
	}
	for _, line := range lines[1:] {
		var name, kind, shape string
		var first, count int
		if _, err := fmt.Sscan(line, &name, &kind, &first, &count, &shape); err != nil {
			return err
		}
		values := make([]float64, count)
		for i := range values {
			switch kind {
			case "float32":
				values[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[first+4*i:])))
			case "float64":
				values[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[first+8*i:]))
			case "int64":
				values[i] = float64(int64(binary.LittleEndian.Uint64(data[first+8*i:])))
			default:
				return fmt.Errorf("%s: %s of %s: want float32, float64 or int64", folder, name, kind)
			}
		}
		f(name, kind, shape, values)
	}
	return nil
}

// sums writes a line for each array.
func sums(w io.Writer, folder string) error {
	return read(folder, func(name, kind, shape string, values []float64) {
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		fmt.Fprintf(w, "%s %s %s %.6f\n", name, kind, shape, sum)
	})
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: vectors FOLDER")
		os.Exit(2)
	}
	if err := sums(os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
