package input

import (
	"errors"
	"fmt"
	"io"
)

// keptOfPipe is how far ReadAt of a pipe goes back: further than a reader buffers.
const keptOfPipe = 1 << 20

// pipe reads forwards what has no places to go back to.
type pipe struct {
	from io.Reader
	most int64 // bytes that are read
	end  int64 // bytes that were read
	kept []byte
	err  error
}

func (p *pipe) ReadAt(b []byte, off int64) (n int, err error) {
	var skipped [1 << 16]byte
	for p.end < off && p.err == nil {
		p.read(skipped[:min(int64(len(skipped)), off-p.end)])
	}
	switch back := p.end - off; {
	case back > int64(len(p.kept)):
		return 0, errors.New("a pipe, which cannot be read again: give a file in place of the pipe")
	case back > 0:
		n = copy(b, p.kept[len(p.kept)-int(back):])
	}
	for n < len(b) && p.err == nil {
		n += p.read(b[n:])
	}
	if n < len(b) {
		return n, p.err
	}
	return n, nil
}

// read reads the next bytes and keeps them.
func (p *pipe) read(b []byte) (n int) {
	if left := p.most - p.end; left > 0 {
		n, p.err = p.from.Read(b[:min(int64(len(b)), left)])
	} else if n, p.err = p.from.Read(make([]byte, 1)); n > 0 {
		n, p.err = 0, fmt.Errorf("a pipe of more than %d bytes: want at most these, or a file in place of the pipe", p.most)
	}
	p.end += int64(n)
	if n >= keptOfPipe {
		p.kept = append(p.kept[:0], b[n-keptOfPipe:n]...)
		return n
	}
	if p.kept = append(p.kept, b[:n]...); len(p.kept) > 2*keptOfPipe {
		p.kept = append(p.kept[:0], p.kept[len(p.kept)-keptOfPipe:]...)
	}
	return n
}
