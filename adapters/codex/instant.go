package codex

import (
	"tower/adapters/jsonl"
	"tower/core"
)

// instant reads the time of a line. Every line has one, in one form but for old files and foreign
// ones, so that form is read by hand and everything else by [core.ParseInstant].
func instant(val []byte) core.Instant {
	in := jsonl.Inner(val)
	const form = "0000-00-00T00:00:00.000Z"
	if len(in) != len(form) {
		return core.ParseInstant(jsonl.Text(val))
	}
	for i := range len(form) {
		if form[i] == '0' {
			if in[i] < '0' || in[i] > '9' {
				return core.ParseInstant(jsonl.Text(val))
			}
		} else if in[i] != form[i] {
			return core.ParseInstant(jsonl.Text(val))
		}
	}
	two := func(i int) int { return int(in[i]-'0')*10 + int(in[i+1]-'0') }
	y, m, d := two(0)*100+two(2), two(5), two(8)
	hh, mm, ss := two(11), two(14), two(17)
	if y < 1970 || m < 1 || m > 12 || d < 1 || d > 28 || hh > 23 || mm > 59 || ss > 59 {
		// The last days of a month need a calendar, and years before 1970 other signs: the library has both.
		return core.ParseInstant(string(in))
	}
	// Days since 1970 with years that begin in March, so that the leap day comes last.
	if m <= 2 {
		y--
	}
	era, yoe := y/400, y%400
	doy := (153*((m+9)%12)+2)/5 + d - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	days := int64(era*146097 + doe - 719468)
	return core.Instant((days*86400+int64(hh*3600+mm*60+ss))*1000 + int64(in[20]-'0')*100 + int64(two(21)))
}
