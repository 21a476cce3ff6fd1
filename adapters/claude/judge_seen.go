package claude

import (
	"encoding/binary"
	"errors"
	"slices"
)

// seen is a set of hashes that is cheap to take up again: what an earlier scan knew stays a sorted
// list, searched as it lies in the carry, and only what this scan adds is a map.
type seen struct {
	old   []int64 // ascending
	added map[int64]struct{}
}

// add tells whether a hash is met for the first time, and remembers it.
func (s *seen) add(h int64) bool {
	if _, ok := slices.BinarySearch(s.old, h); ok {
		return false
	}
	if _, ok := s.added[h]; ok {
		return false
	}
	if s.added == nil {
		s.added = map[int64]struct{}{}
	}
	s.added[h] = struct{}{}
	return true
}

// append writes the set in eight bytes a hash, ascending.
func (s *seen) append(b []byte) []byte {
	all := slices.Grow(slices.Clone(s.old), len(s.added))
	for h := range s.added {
		all = append(all, h)
	}
	if len(s.added) > 0 {
		slices.Sort(all)
	}
	b = slices.Grow(b, 8*len(all))
	for _, h := range all {
		b = binary.LittleEndian.AppendUint64(b, uint64(h))
	}
	return b
}

func (s *seen) read(b []byte) error {
	if len(b)%8 != 0 {
		return errors.New("hashes cut short")
	}
	s.added, s.old = nil, make([]int64, 0, len(b)/8)
	for ; len(b) > 0; b = b[8:] {
		s.old = append(s.old, int64(binary.LittleEndian.Uint64(b)))
	}
	return nil
}
