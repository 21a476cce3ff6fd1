package codex

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"tower/adapters/jsonl"
	"tower/core"
)

// longest is the longest line of a packed rollout that is held in memory.
const longest = 16 << 20

// scanPacked reads a rollout that has been compressed once it was over. It is read as a whole each
// time it changes, and there is no cursor: nothing is ever appended to one.
func (a *Adapter) scanPacked(ctx context.Context, s core.Source) (core.Scan, error) {
	j, size, read, err := readPacked(ctx, s.Path)
	if err != nil {
		return core.Scan{}, fmt.Errorf("read packed rollout %q: %w", s.Path, err)
	}
	return core.Scan{Reset: true, Deltas: []core.Delta{a.delta(ctx, j, s.Path, size)}, Read: read}, nil
}

func readPacked(ctx context.Context, path string) (j *judge, size, read int64, err error) {
	file, err := jsonl.Open(path)
	if err != nil {
		return nil, 0, 0, err
	}
	defer file.Close()
	z, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20))
	if err != nil {
		return nil, 0, 0, err
	}
	defer z.Close()
	if j, err = newJudge(nil, idOf(path)); err != nil {
		return nil, 0, 0, err
	}
	lines := bufio.NewReaderSize(z, 256<<10)
	var line []byte
	for err == nil {
		if err := ctx.Err(); err != nil {
			return nil, 0, 0, err
		}
		var part []byte
		if part, err = lines.ReadSlice('\n'); errors.Is(err, bufio.ErrBufferFull) {
			err = nil
		}
		size += int64(len(part))
		if len(line) <= longest {
			line = append(line, part...)
		}
		if n := len(part); n > 0 && part[n-1] == '\n' || err == io.EOF && len(line) > 0 {
			judgeLine(j, line)
			line = line[:0]
		}
	}
	if err != io.EOF {
		return nil, 0, 0, err
	}
	read, _ = file.Seek(0, io.SeekCurrent)
	return j, size, read, nil
}

// judgeLine hands over the records of one line.
func judgeLine(j *judge, line []byte) {
	defer j.Line()
	if len(line) > longest || !records(line, j.Record) {
		j.Bad(line)
	}
}

// records calls f for each whole value of one line and tells whether that was all of it.
func records(line []byte, f func(jsonl.Record)) (whole bool) {
	for {
		val, rest, ok := jsonl.Skip(line)
		if !ok {
			break
		}
		r := jsonl.Record{Raw: val}
		jsonl.Object(val, func(key, val []byte) bool {
			r.Members = append(r.Members, jsonl.Member{Key: key, Val: val})
			return true
		})
		f(r)
		line = rest
	}
	return len(bytes.Trim(line, " \n\r\t")) == 0
}
