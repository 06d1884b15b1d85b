package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of a document. Published files have less than 1 MB, 50,000 values and 10 levels.
const (
	MaxBytes  = 4 << 20
	MaxDepth  = 64
	MaxValues = 1 << 17 // each of them takes up to 400 bytes
)

// Object is a JSON object. Numbers are json.Number, nulls nil.
type Object map[string]any

// ParseObject reads a document that is one object, after a byte order mark or none. NaN, Infinity and -Infinity, which
// Python writes (time_step_limit of Mamba models), are numbers that [ToNumber] does not take. A name
// that an object has twice is an error. The text of an error follows "config is", and says in which
// line it is, or which kind of file data is.
func ParseObject(data []byte) (Object, error) {
	if kind := otherFile(data); kind != "" {
		return nil, fmt.Errorf("%s", kind)
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("a text of %d bytes, more than %d", len(data), MaxBytes)
	}
	p := &parser{data: bytes.TrimPrefix(data, byteOrderMark), left: MaxValues}
	value, err := p.value(0)
	if err != nil {
		return nil, err
	}
	o, ok := value.(Object)
	switch p.blanks(); {
	case !ok:
		return nil, fmt.Errorf("%s, not an object", KindOf(value))
	case p.at == len(p.data):
		return o, nil
	case p.data[p.at] == '{':
		return nil, p.fault("a second object: JSON Lines, or several files in one")
	}
	return nil, p.faultHere("no more text")
}

var byteOrderMark = []byte("\uFEFF")

// parser reads the values of a document.
type parser struct {
	data []byte
	at   int
	left int // values that there may still be
}

func (p *parser) fault(format string, args ...any) error { return p.faultAt(p.at, format, args...) }

// faultAt is an error about the text at an offset.
func (p *parser) faultAt(at int, format string, args ...any) error {
	before := p.data[:at]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return fmt.Errorf("malformed in line %d, column %d: %s",
		1+bytes.Count(before, []byte{'\n'}), 1+utf8.RuneCount(line), fmt.Sprintf(format, args...))
}

// faultHere is an error where something else than expected follows. It names what people and programs
// write there that JSON does not have.
func (p *parser) faultHere(expected string) error {
	rest := p.data[p.at:]
	starts := func(texts ...string) bool {
		for _, text := range texts {
			if bytes.HasPrefix(rest, []byte(text)) {
				return true
			}
		}
		return false
	}
	switch {
	case len(rest) == 0:
		return p.fault("the text ends here, want %s", expected)
	case starts("//", "/*", "#"):
		return p.fault("a comment, which JSON does not have")
	case starts("'"):
		return p.fault("a single quote: JSON has double quotes")
	case starts("<<<<<<<", "=======", ">>>>>>>"):
		return p.fault("a mark of a merge conflict")
	}
	n := 0
	for p.continues(p.at + n) {
		n++
	}
	if n == 0 {
		_, n = utf8.DecodeRune(rest)
	}
	word, ofPython := string(rest[:n]), map[string]string{"None": "null", "True": "true", "False": "false", "nan": "NaN", "inf": "Infinity"}
	if ofPython[word] != "" {
		return p.fault("%s, which JSON does not have: want %s", word, ofPython[word])
	}
	return p.fault("%s, want %s", Quoted(word), expected)
}

func (p *parser) blanks() {
	for p.at < len(p.data) {
		switch p.data[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		default:
			return
		}
	}
}

// next skips blanks and reports whether c follows, which it skips too.
func (p *parser) next(c byte) bool {
	p.blanks()
	if p.at == len(p.data) || p.data[p.at] != c {
		return false
	}
	p.at++
	return true
}

// literals are the words of JSON, and those of Python for numbers.
var literals = []struct {
	text  string
	value any
}{
	{"null", nil}, {"true", true}, {"false", false},
	{"NaN", json.Number("NaN")}, {"Infinity", json.Number("Infinity")}, {"-Infinity", json.Number("-Infinity")},
}

// value reads a value at a depth.
func (p *parser) value(depth int) (any, error) {
	p.blanks()
	if p.left--; p.left < 0 {
		return nil, fmt.Errorf("a text of more than %d values", MaxValues)
	}
	if p.at == len(p.data) {
		return nil, p.faultHere("a value")
	}
	switch c := p.data[p.at]; c {
	case '{', '[':
		if depth == MaxDepth {
			return nil, fmt.Errorf("a text of more than %d levels", MaxDepth)
		}
		p.at++
		if c == '{' {
			return p.object(depth)
		}
		return p.list(depth)
	case '"':
		return p.text()
	}
	for _, l := range literals {
		if bytes.HasPrefix(p.data[p.at:], []byte(l.text)) && !p.continues(p.at+len(l.text)) {
			p.at += len(l.text)
			return l.value, nil
		}
	}
	return p.number()
}

// continues reports whether a word or a number goes on at an offset.
func (p *parser) continues(at int) bool {
	if at >= len(p.data) {
		return false
	}
	return strings.IndexByte(letters+"+", p.data[at]) >= 0
}

func (p *parser) object(depth int) (any, error) {
	o := Object{}
	for !p.next('}') {
		p.blanks()
		start := p.at
		if start == len(p.data) || p.data[start] != '"' {
			return nil, p.faultHere("a name in double quotes, or }")
		}
		name, err := p.text()
		if err != nil {
			return nil, err
		}
		if _, twice := o[name]; twice {
			return nil, p.faultAt(start, "%s appears twice in one object", Quoted(name))
		}
		if !p.next(':') {
			return nil, p.faultHere(": after the name " + Quoted(name))
		}
		if o[name], err = p.value(depth + 1); err != nil {
			return nil, err
		}
		if err := p.separator('}'); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (p *parser) list(depth int) (any, error) {
	list := []any{}
	for !p.next(']') {
		value, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
		if err := p.separator(']'); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// separator reads the comma after a value, unless the end of its list or object follows.
func (p *parser) separator(end byte) error {
	p.blanks()
	if p.at < len(p.data) && p.data[p.at] == end {
		return nil
	}
	comma := p.at
	if !p.next(',') {
		return p.faultHere("a comma or " + string(end))
	}
	if p.blanks(); p.at < len(p.data) && p.data[p.at] == end {
		return p.faultAt(comma, "a comma before %c, which JSON does not have", end)
	}
	return nil
}

// text reads a string.
func (p *parser) text() (string, error) {
	start, plain := p.at, true
	for p.at++; p.at < len(p.data); p.at++ {
		switch c := p.data[p.at]; {
		case c == '\\':
			plain = false
			p.at++
		case c == '\n', c == '\r':
			return "", p.fault("a string that does not end in its line")
		case c < ' ':
			return "", p.fault("the control character %q in a string, where JSON has an escape", c)
		case c == '"':
			p.at++
			token := p.data[start:p.at]
			if plain && utf8.Valid(token) {
				return string(token[1 : len(token)-1]), nil
			}
			var s string
			if json.Unmarshal(token, &s) != nil {
				return "", p.faultAt(start, "a string with an escape that JSON does not have")
			}
			return s, nil
		}
	}
	return "", p.faultAt(start, "a string that does not end")
}

// number reads a number.
func (p *parser) number() (any, error) {
	start := p.at
	digits := func() bool {
		from := p.at
		for p.at < len(p.data) && '0' <= p.data[p.at] && p.data[p.at] <= '9' {
			p.at++
		}
		return p.at > from
	}
	one := func(of string) bool {
		if p.at == len(p.data) || bytes.IndexByte([]byte(of), p.data[p.at]) < 0 {
			return false
		}
		p.at++
		return true
	}
	one("-")
	zero := p.at < len(p.data) && p.data[p.at] == '0'
	first := p.at
	ok := digits() && (!zero || p.at == first+1)
	if ok && one(".") {
		ok = digits()
	}
	if ok && one("eE") {
		one("+-")
		ok = digits()
	}
	if !ok || p.continues(p.at) {
		p.at = start
		return nil, p.faultHere("a value")
	}
	return json.Number(p.data[start:p.at]), nil
}
