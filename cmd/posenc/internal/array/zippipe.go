package array

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// mostUnsized is how much is read from a pipe of an archive whose sizes stand behind the data, as in one that is
// written to a pipe: where its end is, only its end says.
const mostUnsized = 1 << 26

// zipOfPipe reads an archive record by record, so that it ends where the archive does. The format:
// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
func zipOfPipe(r io.Reader) ([]byte, error) {
	z := &zipPipe{from: r}
	for {
		little := binary.LittleEndian
		switch signature := string(z.take(4)); signature {
		case "PK\x03\x04": // a member
			head := z.take(26)
			if z.err != nil {
				return nil, z.err
			}
			size, extra := uint64(little.Uint32(head[14:])), int(little.Uint16(head[24:]))
			z.take(uint64(little.Uint16(head[22:])))
			more := z.take(uint64(extra))
			switch isUnsized := little.Uint16(head[2:])&8 != 0; {
			case z.err != nil:
				return nil, z.err
			case isUnsized:
				return z.rest()
			case size == 1<<32-1:
				size = zip64Size(more, little.Uint32(head[18:]) == 1<<32-1)
			}
			z.take(size)
		case "PK\x01\x02": // the same in the directory
			if head := z.take(42); z.err == nil {
				for _, at := range []int{24, 26, 28} { // name, extra fields, comment
					z.take(uint64(little.Uint16(head[at:])))
				}
			}
		case "PK\x06\x06": // the end of a directory with large numbers
			if head := z.take(8); z.err == nil {
				z.take(little.Uint64(head))
			}
		case "PK\x06\x07":
			z.take(16)
		case "PK\x05\x06": // the end
			if head := z.take(18); z.err == nil {
				z.take(uint64(little.Uint16(head[16:])))
			}
			if z.err != nil {
				return nil, z.err
			}
			if n, _ := io.ReadFull(r, make([]byte, 1)); n > 0 {
				return nil, fmt.Errorf("more bytes than the %d of the archive", len(z.data))
			}
			return z.data, nil
		default:
			if z.err == nil {
				z.err = errors.New("not a zip archive, or a damaged one")
			}
		}
		if z.err != nil {
			return nil, z.err
		}
	}
}

// zip64Size is the packed size in the extra fields of a member; behind it is the unpacked one where the header has
// no room for it.
func zip64Size(extra []byte, isLarge bool) uint64 {
	for len(extra) >= 4 {
		id, length := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		at := 0
		if isLarge {
			at = 8
		}
		if field := extra[4:]; id == 1 && at+8 <= min(length, len(field)) {
			return binary.LittleEndian.Uint64(field[at:])
		}
		extra = extra[min(len(extra), 4+length):]
	}
	return 0
}

// zipPipe keeps what is read of an archive. After the first error it reads nothing.
type zipPipe struct {
	from io.Reader
	data []byte
	err  error
}

// take reads n bytes.
func (z *zipPipe) take(n uint64) []byte {
	switch {
	case z.err != nil:
		return nil
	case n > maxBytes-uint64(len(z.data)):
		z.err = fmt.Errorf("a pipe of more than %d bytes: want at most these, or a file in place of the pipe", maxBytes)
		return nil
	}
	begin := len(z.data)
	end := begin + int(n)
	for len(z.data) < end && z.err == nil {
		if len(z.data) == cap(z.data) {
			z.data = append(make([]byte, 0, min(maxBytes, max(1<<16, 2*cap(z.data)))), z.data...)
		}
		m, err := io.ReadFull(z.from, z.data[len(z.data):min(end, cap(z.data))])
		z.data = z.data[:len(z.data)+m]
		if err != nil {
			z.err = endsEarly(err, "a zip archive")
		}
	}
	return z.data[begin:]
}

// rest reads to the end.
func (z *zipPipe) rest() ([]byte, error) {
	for len(z.data) <= mostUnsized {
		if len(z.data) == cap(z.data) {
			z.data = append(make([]byte, 0, min(mostUnsized+1, 2*cap(z.data))), z.data...)
		}
		m, err := z.from.Read(z.data[len(z.data):cap(z.data)])
		z.data = z.data[:len(z.data)+m]
		switch {
		case err == io.EOF:
			return z.data, nil
		case err != nil:
			return nil, err
		}
	}
	return nil, fmt.Errorf("a pipe of more than %d bytes, without the sizes of its members: want at most these, "+
		"or a file in place of the pipe", mostUnsized)
}
