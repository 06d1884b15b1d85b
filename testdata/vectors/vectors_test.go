package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const set = "1"

// The readers in other languages read what the one in Go reads, and none reads numbers of a type that it does not know.
func TestReaders(t *testing.T) {
	var want strings.Builder
	if err := sums(&want, set); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(want.String(), "\n"); n < 400 {
		t.Errorf("%d arrays", n)
	}
	unknown := t.TempDir()
	for name, text := range map[string]string{"index.txt": "posenc-vectors 1\nq bfloat16 0 4 4\n", "data.bin": "12345678901234567890123456789012"} {
		if err := os.WriteFile(filepath.Join(unknown, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const message = "q of bfloat16: want float32, float64 or int64"
	if err := sums(io.Discard, unknown); err == nil || !strings.Contains(err.Error(), message) {
		t.Errorf("error %v", err)
	}
	program := filepath.Join(t.TempDir(), "read.exe")
	for _, reader := range []struct {
		language string
		commands [][]string // the last one reads
	}{
		{"C", [][]string{{"cc", "-o", program, "readers/read.c"}, {program, set}}},
		{"Python", [][]string{{"python3", "readers/read.py", set}}},
		{"Rust", [][]string{{"rustc", "--edition", "2021", "-o", program, "readers/read.rs"}, {program, set}}},
	} {
		t.Run(reader.language, func(t *testing.T) {
			if _, err := exec.LookPath(reader.commands[0][0]); err != nil {
				t.Skipf("NOT TESTED: there is no %s", reader.commands[0][0])
			}
			var got []byte
			for _, command := range reader.commands {
				c := exec.Command(command[0], command[1:]...)
				var stderr bytes.Buffer
				c.Stderr = &stderr
				var err error
				if got, err = c.Output(); err != nil {
					t.Fatalf("%q: %v\n%s", command, err, &stderr)
				}
			}
			if string(got) != want.String() {
				t.Errorf("%s reads something else:\n%.1000s", reader.language, got)
			}
			command := slices.Clone(reader.commands[len(reader.commands)-1])
			command[len(command)-1] = unknown
			output, err := exec.Command(command[0], command[1:]...).CombinedOutput()
			if err == nil || !strings.Contains(string(output), message) || strings.Contains(string(output), "q bfloat16 4 ") {
				t.Errorf("%s, a type that it does not know: %v\n%s", reader.language, err, output)
			}
		})
	}
}

// What the README of the set says: by its formula, in float64, and with its tolerance, the numbers before
// the rotation give those after it; turned the other way they do not.
func TestFormula(t *testing.T) {
	arrays := map[string][]float64{}
	if err := read(set, func(name, _, _ string, values []float64) { arrays[name] = values }); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(set + "/rotations.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rotations := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		rotations++
		var name, layout string
		var headDim, rotaryDim, offset int
		var factor float64
		if _, err := fmt.Sscan(line, &name, &layout, &headDim, &rotaryDim, &offset, &factor); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		for _, array := range []string{"q", "k"} {
			x := arrays[name+"."+array+".float32"]
			tokens := len(x) / headDim
			for _, arithmetic := range []string{"exact", "float32"} {
				want := arrays[name+"."+arithmetic+"."+array+"_rotated.float32"]
				for _, sign := range []float64{1, -1} {
					y := append([]float64(nil), x...)
					for token := range tokens {
						head := token * headDim
						for i, f := range arrays[name+"."+arithmetic+".inv_freq"] {
							position := arrays[name+".positions"][token]
							if axes := arrays[name+".axes"]; axes != nil {
								position = arrays[name+".positions"][int(axes[i])*tokens+token]
							}
							angle := position * f
							if arithmetic == "float32" {
								angle = float64(float32(position) * float32(f))
							}
							cos, sin := factor*math.Cos(angle), sign*factor*math.Sin(angle)
							a, b := head+offset+i, head+offset+i+rotaryDim/2
							c, d := a, b
							if layout != "half-split" {
								a, b = head+offset+2*i, head+offset+2*i+1
							}
							if layout == "interleaved" {
								c, d = a, b
							}
							y[c], y[d] = x[a]*cos-x[b]*sin, x[b]*cos+x[a]*sin
						}
					}
					largest := 0.0
					for i := range want {
						largest = math.Max(largest, math.Abs(y[i]-want[i]))
					}
					if tolerance := math.Ldexp(math.Max(factor, 1), -18); len(want) != len(x) || len(x) == 0 || (largest <= tolerance) != (sign == 1) {
						t.Errorf("%s, %s, %s, sign %v: off by %v, tolerance %v", name, array, arithmetic, sign, largest, tolerance)
					}
				}
			}
		}
	}
	if rotations < 40 {
		t.Errorf("%d rotations", rotations)
	}
}
