package document

import (
	"bytes"
	"encoding/binary"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// otherFile says what a file is that stands in the place of a JSON text, by its first bytes, and what
// a caller can do; "" where it may be JSON.
func otherFile(data []byte) string {
	text := bytes.TrimLeft(bytes.TrimPrefix(data, byteOrderMark), " \t\r\n")
	if len(text) == 0 {
		return "empty"
	}
	for _, f := range files {
		if bytes.HasPrefix(text, []byte(f.start)) {
			return f.is
		}
	}
	switch start := data[:min(len(data), mostOfStart)]; {
	case isWide(data):
		return "a text in UTF-16 or UTF-32: save it in UTF-8"
	case len(data) > 8 && data[8] == '{' && binary.LittleEndian.Uint64(data) < 1<<30:
		return "a safetensors file, which has weights: the config.json stands beside it"
	case text[0] == '{' || text[0] == '[' || text[0] == '"':
		return ""
	case bytes.IndexByte(start, 0) >= 0 || !utf8.Valid(trimmedRune(start)):
		return "a binary file, not JSON"
	case text[0] == '<' && !bytes.HasPrefix(text, []byte("<<<<<<<")):
		kind := "a page of XML"
		if isPage(start) {
			kind = "a page of HTML"
		}
		return kind + ", which a server sends in place of a file: download the file itself"
	}
	return otherText(string(text[:min(len(text), mostOfStart)]))
}

const mostOfStart = 4096 // bytes by which a file is known

var files = []struct{ start, is string }{
	{"GGUF", "a GGUF file: GGUF reads its keys"},
	{"tjgg", "a file of GGML, the format before GGUF, not JSON"},
	{"lmgg", "a file of GGML, the format before GGUF, not JSON"},
	{"version https://", "a Git LFS pointer in place of the file: git lfs pull fetches the file"},
	{"# xet version", "a Xet pointer in place of the file: download the file itself"},
	{"/annex/objects/", "a git-annex pointer in place of the file: git annex get fetches the file"},
	{"PK\x03\x04", "a zip archive (as weights of PyTorch are), not JSON"},
	{"\x1f\x8b", "compressed by gzip: decompress it first"},
	{"\x28\xb5\x2f\xfd", "compressed by zstd: decompress it first"},
	{"\x93NUMPY", "an array of NumPy, not JSON"},
	{"%PDF", "a PDF file, not JSON"},
}

// isWide reports whether the first letters of a text have two bytes or four.
func isWide(data []byte) bool {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return true
	}
	for _, start := range []string{"{\x00", "\x00{", "\x00\x00\x00{", "[\x00", "\x00[", "\x00\x00\x00["} {
		if bytes.HasPrefix(data, []byte(start)) {
			return true
		}
	}
	return false
}

// trimmedRune leaves out a letter that is cut at the end.
func trimmedRune(text []byte) []byte {
	for range utf8.UTFMax - 1 {
		if r, n := utf8.DecodeLastRune(text); r != utf8.RuneError || n != 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return text
}

// otherText says what a text is that begins like no JSON object, list or string.
func otherText(text string) string {
	var rows []string
	for row := range strings.Lines(text) {
		row = strings.TrimSpace(row)
		if row != "" && row[0] != '#' && row != "---" {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return "" // comments alone
	}
	first := rows[0]
	word := first[:len(first)-len(strings.TrimLeft(first, letters))]
	after := strings.TrimLeft(first[len(word):], " ")
	all := func(is func(row string) bool) bool {
		return !slices.ContainsFunc(rows[:min(len(rows), 4)], func(row string) bool { return !is(row) })
	}
	switch {
	case strings.HasPrefix(first, "total "), len(first) > 10 && strings.Contains("-dl", first[:1]) && strings.Trim(first[1:10], "-rwxsStT") == "",
		len(rows) > 1 && all(func(row string) bool { return path.Ext(row) != "" && strings.Trim(row, letters+"/") == "" }):
		return "a list of files: name the file itself"
	case word != "" && strings.HasPrefix(strings.TrimLeft(after, "= "), "{"):
		return "a text that begins with " + Quoted(word) + ": want the object alone, from {"
	case len(rows) == 1 && strings.Trim(first, letters+"/") == "" && (strings.Contains(first, "/") || path.Ext(first) == ".json"):
		return "a path, " + Quoted(first) + ", in place of the file"
	case word != "" && (word[0] < '0' || word[0] > '9') && (after == ":" || strings.HasPrefix(after, ": ")), strings.HasPrefix(first, "- "):
		return "YAML, not JSON"
	case all(func(row string) bool { return row[0] == '[' || strings.Contains(row, "=") }):
		return "TOML or a list of settings, not JSON"
	case after != "" && word != "" && strings.IndexByte(letters+" :", after[0]) >= 0:
		return "a text that begins with " + Quoted(first) + ", not JSON"
	}
	return ""
}

// letters are those of keys and of names of files.
const letters = "_-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// isPage reports whether a text is HTML.
func isPage(text []byte) bool {
	lower := bytes.ToLower(text)
	for _, tag := range []string{"<!doctype html", "<html", "<head", "<body"} {
		if bytes.Contains(lower, []byte(tag)) {
			return true
		}
	}
	return false
}
