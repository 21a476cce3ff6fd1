package codex

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"tower/adapters/jsonl"
)

// How much of a rollout's end is looked at. A prompt of a megabyte stands in it twice, escaped.
const (
	firstBlock = 128 << 10
	lastBlock  = 4 << 20
	farthest   = 32 << 20
)

// newest calls f for the records of a rollout from the last line backwards, those of one line in their
// order, until f returns false or so many bytes have been read as nobody looks for. Nothing handed to f
// may be kept. A line that is still being written is passed over.
func newest(ctx context.Context, path string, f func(jsonl.Record) bool) error {
	file, err := jsonl.Open(path)
	if err != nil {
		return fmt.Errorf("read rollout: %w", err)
	}
	defer file.Close()
	if strings.HasSuffix(path, packed) {
		end, whole, err := unpackedEnd(ctx, file)
		if err != nil {
			return fmt.Errorf("read packed rollout %q: %w", path, err)
		}
		backwards(end, whole, f)
		return nil
	}
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("read rollout: %w", err)
	}
	var rest []byte // of a line whose beginning has not been read
	block := int64(firstBlock)
	for at := info.Size(); at > 0 && info.Size()-at < farthest; block = min(2*block, lastBlock) {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(block, at)
		at -= n
		buf := make([]byte, int(n)+len(rest))
		if _, err := file.ReadAt(buf[:n], at); err != nil {
			return fmt.Errorf("read rollout %q: %w", path, err)
		}
		copy(buf[n:], rest)
		var over bool
		if rest, over = backwards(buf, at == 0, f); over {
			return nil
		}
	}
	return nil
}

// backwards hands over the lines of b, the last one first, and returns what stands before the first
// newline; with whole that is a line, too. over tells that f wants no more.
func backwards(b []byte, whole bool, f func(jsonl.Record) bool) (rest []byte, over bool) {
	for !over {
		n := bytes.LastIndexByte(b, '\n')
		if n < 0 && !whole {
			return b, false
		}
		records(b[n+1:], func(r jsonl.Record) { over = !f(r) || over })
		if n < 0 {
			break
		}
		b = b[:n]
	}
	return nil, over
}

// unpackedEnd returns the last bytes of what a packed rollout holds. There is no way to its end but
// through all of it.
func unpackedEnd(ctx context.Context, file io.Reader) (end []byte, whole bool, err error) {
	z, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20))
	if err != nil {
		return nil, false, err
	}
	defer z.Close()
	whole = true
	part := make([]byte, lastBlock)
	for {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		n, err := io.ReadFull(z, part)
		if len(end) > farthest {
			end, whole = append(end[:0], end[len(end)-farthest/2:]...), false
		}
		end = append(end, part[:n]...)
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return end, whole, nil
		default:
			return nil, false, err
		}
	}
}
