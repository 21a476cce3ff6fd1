package cli

import (
	"strings"
	"testing"
)

func TestHeadOf(t *testing.T) {
	short := strings.Repeat("a line\n", 20_000)
	for _, tt := range []struct {
		name, file string
		want       int
	}{
		{"empty", "", 0},
		{"no newline", "{}", 2},
		{"short lines", short, 64 << 10},
		{"a long first line", strings.Repeat("x", 300<<10) + "\n" + short, 300<<10 + 1},
		{"a long first line alone", strings.Repeat("x", 300<<10), 300 << 10},
		{"a line without end", strings.Repeat("x", 20<<20), 16<<20 + 64<<10},
	} {
		head, err := headOf(strings.NewReader(tt.file))
		if err != nil || len(head) != tt.want || !strings.HasPrefix(tt.file, string(head)) {
			t.Errorf("%s: %d bytes, %v, want %d", tt.name, len(head), err, tt.want)
		}
	}
}
