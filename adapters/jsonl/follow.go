package jsonl

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"sync"

	"tower/core"
)

// Judge gives meaning to the records of one source. Nothing it is handed may be kept.
type Judge interface {
	// Record is called for each whole record, in file order.
	Record(rec Record)
	// Line is called after the records of each physical line, blank ones included.
	Line()
	// Bad is called for a line of which some record cannot be walked: after the records before and
	// behind the break, before Line. line is nil for one too long to be held.
	Bad(line []byte)
	// State returns all the judge needs to go on later where it stands now. It is called once,
	// before the records behind the last newline.
	State() ([]byte, error)
}

// Result tells where [Follow] came to.
type Result struct {
	Cursor core.Cursor
	Reset  bool  // the source was read from its start
	Read   int64 // bytes read from the file, fingerprints included
	Size   int64 // bytes the source held, an unfinished tail included
}

const (
	chunk = 256 << 10 // of the read buffer
	edge  = 4 << 10   // of the fingerprints at either end of what was consumed
)

// Follow reads the source from where a cursor stopped and returns the judge that heard its records.
//
// The cursor is taken up when it is of this version and the bytes at its head and before its offset
// are still those it knew; start is then called with the state it carries, and if start refuses that,
// or anything else is in doubt, with nil and the source is read from its first byte (Reset). A source
// that was rewritten in the middle, at equal or greater length and with the same 4 KiB at both places,
// looks appended; so does one whose time changed though nothing was added, for which the caller, who
// knows both fingerprints, passes the zero Cursor.
//
// The new cursor stands behind the last newline. What follows it is neither a line nor bad as long as
// it is unfinished; when it is whole records nonetheless (a killed writer leaves one without newline)
// the judge hears of them and of a line after State was taken: true for now, told again next time.
//
// Memory stays below some 4 MiB for any file whose lines are below 1 MiB, and below some 20 MiB for
// any other. The error is that of a source which cannot be opened or read, of the context, of start
// for a nil state or of State; the judge is nil then.
func Follow(ctx context.Context, src core.Source, from core.Cursor, version int, start func(state []byte) (Judge, error)) (Judge, Result, error) {
	file, err := Open(src.Path)
	if err != nil {
		return nil, Result{}, fmt.Errorf("read transcript: %w", err)
	}
	defer file.Close()

	f := follower{file: file, poison: ctx.Value(poisonKey{}) != nil}
	judge, err := f.begin(from, version, start)
	if err != nil {
		return nil, Result{}, fmt.Errorf("read transcript %q: %w", src.Path, err)
	}
	f.judge = judge
	if err := f.run(ctx, version); err != nil {
		return nil, Result{}, fmt.Errorf("read transcript %q: %w", src.Path, err)
	}
	return judge, f.result, nil
}

type poisonKey struct{}

// Poison makes every [Follow] under the context overwrite each line as soon as its records have been
// judged. It is for tests: a slice that a judge kept by mistake reads right until the buffer is filled
// again, and under poison it reads wrong at once.
func Poison(ctx context.Context) context.Context {
	return context.WithValue(ctx, poisonKey{}, true)
}

// buffers are the read buffers not in use.
var buffers = sync.Pool{New: func() any { return new([chunk]byte) }}

type follower struct {
	file   *os.File
	judge  Judge
	result Result
	poison bool
	lines  liner
	each   func(Record)

	offset int64  // of the first byte not consumed
	ends   ends   // of the bytes consumed
	giant  elider // the line being elided, when giants
	giants bool
	ahead  ends // ends as they will be when that line is consumed
}

// begin decides where to start and makes the judge.
func (f *follower) begin(from core.Cursor, version int, start func([]byte) (Judge, error)) (Judge, error) {
	if from.Version == version && from.Offset > 0 && len(from.State) > 0 {
		ok, err := f.resume(from)
		if err != nil {
			return nil, err
		}
		if ok {
			if judge, err := start(from.State); err == nil {
				f.offset = from.Offset
				return judge, nil
			}
		}
	}
	f.result.Reset = true
	f.ends = ends{}
	return start(nil)
}

// resume tells whether the file still begins and goes on as the cursor knew it.
func (f *follower) resume(from core.Cursor) (bool, error) {
	n := min(from.Offset, edge)
	f.ends = ends{make([]byte, n, edge), make([]byte, n, edge)}
	for _, part := range []struct {
		at   int64
		into []byte
	}{{0, f.ends.head}, {from.Offset - n, f.ends.tail}} {
		got, err := f.file.ReadAt(part.into, part.at)
		f.result.Read += int64(got)
		if got < len(part.into) {
			if err != nil && err != io.EOF {
				return false, err
			}
			return false, nil
		}
	}
	return hash(f.ends.head) == from.Head && hash(f.ends.tail) == from.Tail, nil
}

func (f *follower) run(ctx context.Context, version int) error {
	if _, err := f.file.Seek(f.offset, io.SeekStart); err != nil {
		return err
	}
	f.each = f.judge.Record
	pooled := buffers.Get().(*[chunk]byte)
	defer buffers.Put(pooled)
	tail, err := f.read(ctx, pooled[:])
	if err != nil {
		return err
	}
	state, err := f.judge.State()
	if err != nil {
		return err
	}
	f.result.Cursor = core.Cursor{Version: version, Offset: f.offset, Head: hash(f.ends.head), Tail: hash(f.ends.tail), State: state}
	if f.lines.whole(tail) {
		f.line(tail)
	}
	return nil
}

// read consumes all whole lines and returns what is behind the last newline.
func (f *follower) read(ctx context.Context, small []byte) (tail []byte, err error) {
	buf, at := small, f.offset // at is the place of buf[0] in the file
	end, scanned := 0, 0       // buf[:end] is read and not consumed, buf[:scanned] holds no newline
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if end == len(buf) && len(buf) < giant && !f.giants {
			buf = append(make([]byte, 0, giant), buf...)[:giant]
		} else if end == len(buf) || f.giants && end > 0 {
			f.elide(buf[:end], at == 0)
			at += int64(end)
			buf, end, scanned = small, 0, 0
		}
		n, err := f.file.Read(buf[end:])
		f.result.Read += int64(n)
		end += n
		if last := bytes.LastIndexByte(buf[scanned:end], '\n'); last >= 0 {
			last += scanned + 1
			if f.giants {
				f.ends = f.ahead
			}
			f.ends.note(buf[:last])
			f.split(buf[:last], at == 0)
			f.offset = at + int64(last)
			at = f.offset
			rest := buf[last:end]
			if len(rest) < chunk {
				buf = small
			}
			end = copy(buf, rest)
		}
		scanned = end
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	f.result.Size = at + int64(end)
	if f.giants {
		f.elide(buf[:end], false)
		return f.giant.out, nil
	}
	tail = buf[:end]
	if at == 0 {
		tail = bytes.TrimPrefix(tail, bom)
	}
	return tail, nil
}

// elide adds to the line that is being elided, or begins it.
func (f *follower) elide(b []byte, first bool) {
	if !f.giants {
		f.giants = true
		f.ahead = ends{bytes.Clone(f.ends.head), bytes.Clone(f.ends.tail)}
	}
	f.ahead.note(b)
	if first {
		b = bytes.TrimPrefix(b, bom)
	}
	f.giant.feed(b)
}

var bom = []byte("\xef\xbb\xbf")

// split hands over the lines of b, which ends with a newline. The first one may be the end of a line
// that is being elided.
func (f *follower) split(b []byte, first bool) {
	if first {
		b = bytes.TrimPrefix(b, bom)
	}
	for len(b) > 0 {
		n := bytes.IndexByte(b, '\n')
		if !f.giants {
			f.line(b[:n])
		} else {
			f.giant.feed(b[:n])
			if f.giant.overflow {
				f.judge.Bad(nil)
				f.judge.Line()
			} else {
				f.line(f.giant.out)
			}
			f.giants, f.giant = false, elider{}
		}
		b = b[n+1:]
	}
}

func (f *follower) line(b []byte) {
	if !f.lines.line(b, f.each) {
		f.judge.Bad(b)
	}
	f.judge.Line()
	if f.poison {
		for i := range b {
			b[i] = '!'
		}
	}
}

// ends are the first and the last bytes of what was consumed, up to edge of each. They are copied as
// the bytes go by: reading them afterwards would fingerprint what another writer has put there since.
type ends struct{ head, tail []byte }

func (e *ends) note(b []byte) {
	if n := edge - len(e.head); n > 0 {
		e.head = append(e.head, b[:min(n, len(b))]...)
	}
	e.tail = lastOf(e.tail, b)
}

func lastOf(tail, b []byte) []byte {
	if len(b) >= edge {
		return append(tail[:0], b[len(b)-edge:]...)
	}
	if over := len(tail) + len(b) - edge; over > 0 {
		tail = tail[:copy(tail, tail[over:])]
	}
	return append(tail, b...)
}

func hash(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b)
	return h.Sum64()
}
