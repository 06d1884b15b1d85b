package array

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
	"github.com/go-posenc/posenc/internal/test/kit"
)

// TestRead reads what testdata/make.py wrote.
func TestRead(t *testing.T) {
	for name, arrays := range map[string]int{
		"stored.npz": 19, "deflated.npz": 19, "float32.npy": 1, "version2.npy": 1, "version3.npy": 1, "numpy.safetensors": 12, "torch.safetensors": 5, "unread.safetensors": 3,
	} {
		t.Run(name, func(t *testing.T) {
			f := kit.Must(ReadFile(filepath.Join("testdata", name)))
			if len(f.Arrays) != arrays {
				t.Errorf("%d arrays, want %d", len(f.Arrays), arrays)
			}
			if name == "numpy.safetensors" && f.Texts["README"] != "by numpy" {
				t.Errorf("texts %v", f.Texts)
			}
			for _, a := range f.Arrays {
				checkArray(t, a)
			}
		})
	}
}

func checkArray(t *testing.T, a Array) {
	t.Helper()
	kind, _, _ := strings.Cut(cmp.Or(a.Name, a.Type), "_")
	shape, odd := []int{2, 3, 4}, map[string]Array{"empty": {Shape: []int{0, 4}, Values: []float32{}}, "scalar": {Values: []float32{0.5}}}
	if want, ok := odd[kind]; ok {
		if !slices.Equal(a.Shape, want.Shape) || !reflect.DeepEqual(a.Values, want.Values) {
			t.Errorf("%s: shape %v, %v", kind, a.Shape, a.Values)
		}
		return
	}
	floats, err := a.Float32s()
	integers, err2 := a.Int32s()
	if kind == "unread" {
		if codes, ok := a.Values.([]byte); a.Values != nil && !(ok && a.Type == "e4m3" && len(codes) == 24) || err == nil || err2 == nil {
			t.Errorf("%s: %v of type %s, error %v", a.Name, a.Values, a.Type, err)
		}
		return
	}
	if a.Type != kind || !slices.Equal(a.Shape, shape) {
		t.Errorf("%s: type %s, shape %v", a.Name, a.Type, a.Shape)
	}
	for i := range 24 {
		first := int32(0)
		if kind[0] == 'i' {
			first = -3
		}
		if float := strings.Contains(kind, "float"); float && (err != nil || floats[i] != float32(i)/8-1) || !float && (err2 != nil || integers[i] != first+int32(i)) {
			t.Fatalf("%s: %v, %v, errors %v, %v", a.Name, floats, integers, err, err2)
		}
	}
}

// sample is what testdata/read.py expects.
func sample() *File {
	var x32 []float32
	var x64 []float64
	var f16 []posenc.Float16
	var bf16 []posenc.BFloat16
	var positions []int64
	shape := []int{2, 3, 4}
	for i := range 24 {
		v := float32(i)/8 - 1
		x32, x64, positions = append(x32, v), append(x64, float64(v)), append(positions, int64(i-3))
		bf16 = append(bf16, kit.Narrow[posenc.BFloat16](v))
		f16 = append(f16, kit.Narrow[posenc.Float16](v))
	}
	return &File{
		Arrays: []Array{
			{Name: "float16", Shape: shape, Values: f16},
			{Name: "bfloat16", Shape: shape, Values: bf16},
			{Name: "float32", Shape: shape, Values: x32},
			{Name: "float64", Shape: shape, Values: x64},
			{Name: "positions", Shape: shape, Values: positions},
			{Name: "scalar", Values: []float32{0.5}},
			{Name: "empty", Shape: []int{0, 4}, Values: []float32{}},
		},
		Texts: map[string]string{"README": "What this is: grüße\n"},
	}
}

// TestWrite compares with the bytes that testdata/read.py has read.
func TestWrite(t *testing.T) {
	for _, name := range []string{"written.npz", "written.safetensors"} {
		path := filepath.Join(t.TempDir(), name)
		kit.NoError(t, WriteFile(path, sample()))
		got, stored := kit.ReadGolden(path), filepath.Join("testdata", name)
		if *kit.Update {
			kit.NoError(t, os.WriteFile(stored, got, 0o666))
		}
		if !bytes.Equal(got, kit.ReadGolden(stored)) {
			t.Errorf("%s has other bytes", name)
		}
		back := kit.Must(ReadFile(path))
		if !reflect.DeepEqual(back.Texts, sample().Texts) {
			t.Errorf("%s: texts %v", name, back.Texts)
		}
		for _, a := range sample().Arrays {
			i := slices.IndexFunc(back.Arrays, func(b Array) bool { return b.Name == a.Name })
			if i < 0 || !reflect.DeepEqual(back.Arrays[i].Values, a.Values) || !slices.Equal(back.Arrays[i].Shape, a.Shape) {
				t.Errorf("%s: %s was read back as something else", name, a.Name)
			}
		}
	}
}

// A folder is read by what its index says, in words.
func TestWriteFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "written")
	f := sample()
	f.Arrays = append(f.Arrays, Array{Name: "beginning", Shape: []int{3}, Values: []int64{-3, -2, -1}})
	kit.NoError(t, WriteFile(folder, f))
	if readme := string(kit.ReadGolden(folder + "/README.txt")); readme != f.Texts["README"] {
		t.Errorf("README %q", readme)
	}
	data, firsts := kit.ReadGolden(folder+"/data.bin"), map[string]int{}
	lines := strings.Split(strings.TrimSpace(string(kit.ReadGolden(folder+"/index.txt"))), "\n")
	if lines[0] != "posenc-vectors 1" || len(lines) != len(f.Arrays)+1 {
		t.Fatalf("index %q", lines)
	}
	for i, line := range lines[1:] {
		var name, kind string
		var first, count int
		kit.Must(fmt.Sscan(line, &name, &kind, &first, &count))
		firsts[name] = first
		a := f.Arrays[i]
		var want bytes.Buffer
		kit.NoError(t, binary.Write(&want, binary.LittleEndian, a.Values))
		if name != a.Name || count != reflect.ValueOf(a.Values).Len() || first%8 != 0 || !bytes.HasPrefix(data[first:], want.Bytes()) {
			t.Errorf("%s: %d elements at %d have other bytes", name, count, first)
		}
	}
	if firsts["beginning"] != firsts["positions"] {
		t.Errorf("bytes of the same beginning are there twice: %v", firsts)
	}
}

func TestWriteErrors(t *testing.T) {
	one := func(a Array) *File { return &File{Arrays: []Array{a}} }
	good := Array{Name: "a", Shape: []int{1}, Values: []float32{1}}
	for _, test := range []struct {
		name, want string
		file       *File
	}{
		{"a.npy", "want a name that ends in", one(good)},
		{"a", `array "a b": want a name without spaces`, one(Array{Name: "a b", Shape: []int{1}, Values: []float32{1}})},
		{"a.npz", "1 elements, want those of shape [2]", one(Array{Name: "a", Shape: []int{2}, Values: []float32{1}})},
		{"a.safetensors", "Values is []int", one(Array{Name: "a", Shape: []int{1}, Values: []int{1}})},
		{"a.npz", `array "": want a name`, one(Array{Shape: []int{1}, Values: []float32{1}})},
		{"a.npz", `array "a": want a name that no other`, &File{Arrays: []Array{good, good}}},
	} {
		path := filepath.Join(t.TempDir(), test.name)
		if err := WriteFile(path, test.file); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.want)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a file was written beside the error", test.name)
		}
	}
}

// npyFile is a file with a header of the caller.
func npyFile(header string, data int) []byte {
	file := append([]byte(npyMagic), 1, 0)
	file = binary.LittleEndian.AppendUint16(file, uint16(len(header)))
	return append(append(file, header...), make([]byte, data)...)
}

func safeFile(header string, data int) []byte {
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(file, header...), make([]byte, data)...)
}

func TestHostile(t *testing.T) {
	pt := kit.ReadGolden("testdata/torch.pt")
	header := func(descr, shape string) string {
		return "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }\n"
	}
	for _, test := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "an empty file"},
		{"text", []byte("before the rotation"), "not a npy, npz or safetensors file"},
		{"gguf", []byte("GGUF\x03\x00\x00\x00\x00\x00"), "a GGUF file"},
		{"torch", pt, "a file of torch.save"},
		{"npy version", []byte(npyMagic + "\x09\x00\x10\x00"), "npy version 9"},
		{"npy start", []byte(npyMagic + "\x01\x00\x10"), "ends early"},
		{"npy header", npyFile("", 0), "want descr, fortran_order and shape"},
		{"npy header size", []byte(npyMagic + "\x02\x00\xff\xff\xff\xff"), "a npy header of 4294967295 bytes"},
		{"npy data", npyFile(header("'<f4'", "(4,)"), 8), "8 bytes of data: want 16 for shape [4] of float32"},
		{"npy more data", npyFile(header("'<f4'", "(4,)"), 17), "17 bytes of data"},
		{"npy negative", npyFile(header("'<f4'", "(-4,)"), 8), "want descr, fortran_order and shape"},
		{"npy large", npyFile(header("'<f4'", "(300000000000000,)"), 8), "want at most 1073741824 bytes"},
		{"npy overflow", npyFile(header("'<f4'", "(4294967296, 4294967296)"), 0), "want fewer elements"},
		{"npy number", npyFile(header("'<f4'", "(99999999999999999999,)"), 8), "shape (99999999999999999999,): want whole numbers that an int holds"},
		{"npy dimensions", npyFile(header("'<f4'", "("+strings.Repeat("1,", 65)+")"), 4), "65 dimensions"},
		{"uint64", append(npyFile(header("'<u8'", "(1,)"), 0), bytes.Repeat([]byte{0xff}, 8)...), "element 0 is 18446744073709551615"},
		{"safetensors header", safeFile("{", 0)[:9], "safetensors: header: no JSON object from byte 1 on"},
		{"safetensors size", []byte("\xff\xff\xff\xff\xff\xff\xff\xff{"), "a safetensors header of 18446744073709551615 bytes"},
		{"safetensors offsets", safeFile(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 4), "want two that rise, up to 4"},
		{"safetensors gap", safeFile(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8), "data_offsets [4 8]: want the first to be 0"},
		{"safetensors shape", safeFile(`{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}}`, 8), "want a type and fewer elements"},
		{"safetensors bytes", safeFile(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}}`, 8), "8 bytes of data: want those of shape [1] of F32"},
		{"safetensors overlap", safeFile(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}}`, 4), "data_offsets [0 4]: want the first to be 4"},
		{"safetensors more data", safeFile(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 5), "5 bytes of data: want 4"},
		{"safetensors json", safeFile(`{"a":null}`, 0), `tensor "a": no JSON object`},
		{"safetensors words", safeFile(`{"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}}`, 4), `tensor "a": shape [1.5]: want a list of whole numbers`},
		{"safetensors letters", safeFile(`{"a":{"Dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4), `dtype ""`},
		{"safetensors twice", safeFile(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}}`, 4), `header: the key "a" appears twice`},
		{"safetensors twice escaped", safeFile(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"\u0061":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}}`, 4), `the key "a" appears twice`},
		{"safetensors key twice", safeFile(`{"a":{"dtype":"F32","shape":[1],"shape":[1,1],"data_offsets":[0,4]}}`, 4), `tensor "a": the key "shape" appears twice`},
		{"safetensors text twice", safeFile(`{"__metadata__":{"x":"1","x":"2"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4), `__metadata__: the key "x" appears twice`},
		{"safetensors text", safeFile(`{"__metadata__":{"x":1}}`, 0), `__metadata__: "x" is 1: want a text`},
		{"safetensors after", safeFile(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}} x`, 4), "header: more text after the object"},
		{"npy shape twice", npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), 'shape': (2, 2), }\n", 16), `the key "shape" appears twice`},
		{"npy descr twice", npyFile("{'descr': '<f4', \"descr\": '<i4', 'fortran_order': False, 'shape': (4,), }\n", 16), `the key "descr" appears twice`},
		{"npz twice", twice(t), `two members "a.npy"`},
		{"safetensors type", safeFile(`{"a":{"shape":[0],"data_offsets":[0,0]}}`, 0), `dtype ""`},
		{"zip", []byte("PK\x03\x04 and no more"), "npz: "},
		{"safetensors dimensions", safeFile(`{"a":{"dtype":"F32","shape":[`+strings.Repeat("1,", 400_000)+`1],"data_offsets":[0,4]}}`, 4), "400001 dimensions: want at most 64"},
		{"safetensors zeros", safeFile(`{"a":{"dtype":"F32","shape":[`+strings.Repeat("0,", 400_000)+`1],"data_offsets":[0,4]}}`, 4), "safetensors: "},
		{"safetensors long header", safeFile(`{"a":{"dtype":"F32","shape":[`+strings.Repeat("1,", 2_000_000)+`1],"data_offsets":[0,4]}}`, 4), "want at most 1048576"},
		{"bomb", bomb(t, 64<<20), "want at most 16777216 in all members"},
		{"bombs", bomb(t, 9<<20, 9<<20), "want at most 16777216 in all members"},
		{"no member", []byte("PK\x05\x06" + strings.Repeat("\x00", 18)), "without members"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := kit.AllocatedBytes()
			_, err := Read(bytes.NewReader(test.file), int64(len(test.file)))
			used := kit.AllocatedBytes() - before
			if err == nil || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 1000 {
				t.Errorf("error %.1000v, want %q", err, test.want)
			}
			if most := mostMemory(len(test.file)); used > most {
				t.Errorf("%d bytes of memory for a file of %d, want at most %d", used, len(test.file), most)
			}
			if _, err := Read(bytes.NewReader(test.file), input.Unknown); err == nil || len(err.Error()) > 1000 {
				t.Errorf("as a pipe: error %.1000v", err)
			}
		})
	}
	// Of many integers the type is read, and not the values.
	many := npyFile(header("'<i2'", "(4194305,)"), 2*(maxIntegers+1))
	f, err := Read(bytes.NewReader(many), int64(len(many)))
	if err != nil || f.Arrays[0].Values != nil || !strings.HasPrefix(f.Arrays[0].Type, "int16 (4194305 of them") {
		t.Errorf("type %s, error %v", f.Arrays[0].Type, err)
	}
}

// A pipe of a file is the file, and its end is found; more than a file, or an endless one, is an error that takes no
// more memory than the file.
func TestPipes(t *testing.T) {
	for name, file := range files() {
		want, wantErr := Read(bytes.NewReader(file), int64(len(file)))
		got, err := Read(bytes.NewReader(file), input.Unknown)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !reflect.DeepEqual(got, want) {
			t.Errorf("%s through a pipe: %v, %v", name, got, err)
		}
		for n := range file {
			if _, err := Read(bytes.NewReader(file[:n]), input.Unknown); err == nil {
				t.Errorf("%s: no error of its first %d bytes", name, n)
			}
		}
		if before := kit.AllocatedBytes(); name != "testdata/torch.pt" {
			if _, err := Read(&endless{file}, input.Unknown); err == nil {
				t.Errorf("%s: no error where zeros follow without an end", name)
			}
			if used := kit.AllocatedBytes() - before; used > 1<<20+20*uint64(len(file)) {
				t.Errorf("%s: %d bytes of memory where zeros follow without an end", name, used)
			}
		}
	}
	for _, start := range []string{"", npyMagic, "PK\x03\x04", "\x40\x00\x00\x00\x00\x00\x00\x00{"} {
		before := kit.AllocatedBytes()
		if _, err := Read(&endless{[]byte(start)}, input.Unknown); err == nil {
			t.Errorf("%q and zeros: no error", start)
		}
		if used := kit.AllocatedBytes() - before; used > 1<<20 {
			t.Errorf("%q and zeros: %d bytes of memory", start, used)
		}
	}
}

// endless is a text and zeros after it.
type endless struct{ text []byte }

func (e *endless) ReadAt(b []byte, off int64) (int, error) {
	clear(b)
	if off < int64(len(e.text)) {
		copy(b, e.text[off:])
	}
	return len(b), nil
}

// twice is an archive with a member twice.
func twice(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for range 2 {
		member, err := w.Create("a.npy")
		if err == nil {
			_, err = member.Write(npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", 4))
		}
		kit.NoError(t, err)
	}
	kit.NoError(t, w.Close())
	return b.Bytes()
}

// bomb is an archive of zeros, of which deflate leaves a thousandth.
func bomb(t *testing.T, sizes ...int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i, n := range sizes {
		member, err := w.Create(fmt.Sprintf("%d.npy", i))
		if err == nil {
			_, err = member.Write(npyFile(fmt.Sprintf("{'descr': '|i1', 'fortran_order': False, 'shape': (%d,), }\n", n), n))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	kit.NoError(t, w.Close())
	return b.Bytes()
}

// mostMemory is what the documentation of the package says: members of up to 16 MiB and their
// values, and for larger files a few times their size, of which a header takes the most.
func mostMemory(file int) uint64 {
	return 128<<20 + 10*maxExpansion*uint64(file)
}

// TestTruncated reads every beginning of every file, and every file with every byte
// changed.
func TestTruncated(t *testing.T) {
	for name, file := range files() {
		for n := range file {
			if _, err := Read(bytes.NewReader(file[:n]), int64(n)); err == nil {
				t.Errorf("%s: no error of its first %d bytes", name, n)
			}
		}
		for i := range file {
			changed := bytes.Clone(file)
			changed[i] ^= 0xff
			Read(bytes.NewReader(changed), int64(len(changed)))
		}
	}
}

func files() map[string][]byte {
	all := make(map[string][]byte)
	for _, path := range append(kit.Must(filepath.Glob("testdata/*.[ns]*")), "testdata/torch.pt") {
		all[path] = kit.ReadGolden(path)
	}
	return all
}

func TestConversions(t *testing.T) {
	for _, test := range []struct {
		values any
		floats bool
		want   string
	}{
		{[]float64{0.5, 0.1}, true, "element 1 of float64 is 0.1, which is no float32"},
		{[]int64{1}, true, "want float32, float16"},
		{[]int64{0, 1 << 31}, false, "element 1"}, {[]float32{0, 0.5}, false, "element 1"},
		{[]float32{0, 1 << 31}, false, "element 1"}, {[]float32{0, float32(math.NaN())}, false, "element 1"},
	} {
		a := Array{Type: "int64", Values: test.values}
		_, err := a.Int32s()
		if test.floats {
			_, err = a.Float32s()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, to floats %t: error %v", test.values, test.floats, err)
		}
	}
	a := Array{Values: []float32{-2, 1 << 20}}
	if v, err := a.Int32s(); err != nil || !slices.Equal(v, []int32{-2, 1 << 20}) {
		t.Errorf("Int32s of floats: %v, %v", v, err)
	}
}

// FuzzRead: no file makes it panic or take more memory than a multiple of its size.
func FuzzRead(f *testing.F) {
	for _, file := range files() {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := kit.AllocatedBytes()
		file, err := Read(bytes.NewReader(data), int64(len(data)))
		if used := kit.AllocatedBytes() - before; used > mostMemory(len(data)) {
			t.Errorf("%d bytes of memory for a file of %d", used, len(data))
		}
		if err != nil {
			return
		}
		for _, a := range file.Arrays {
			if n, ok := count(a.Shape); a.Values != nil && (!ok || n != reflect.ValueOf(a.Values).Len()) {
				t.Errorf("%q: %d elements of shape %v", a.Name, reflect.ValueOf(a.Values).Len(), a.Shape)
			}
			a.Float32s()
			a.Int32s()
		}
	})
}

// An archive that was written to a pipe has the sizes of its members behind them: it is read up to a bound.
func TestUnsizedPipe(t *testing.T) {
	file := bomb(t, 1000, 70_000)
	want := kit.Must(Read(bytes.NewReader(file), int64(len(file))))
	if got, err := Read(bytes.NewReader(file), input.Unknown); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("error %v", err)
	}
	before := kit.AllocatedBytes()
	if _, err := Read(&endless{file}, input.Unknown); err == nil || !strings.Contains(err.Error(), "without the sizes of its members") {
		t.Errorf("error %v", err)
	}
	if used := kit.AllocatedBytes() - before; used > 4*mostUnsized {
		t.Errorf("%d bytes of memory", used)
	}
}
