package live

import (
	"time"

	"tower/core"
)

// Days cuts ascending instants into days of a zone. A turn whose time nobody knows is on none.
func Days(at []core.Instant, zone *time.Location) []Day {
	var days []Day
	for _, i := range at {
		if i == 0 {
			continue
		}
		day := dayOf(i, zone)
		if n := len(days); n > 0 && days[n-1].Day == day {
			days[n-1].Turns++
		} else {
			days = append(days, Day{Day: day, Turns: 1})
		}
	}
	return days
}

func dayOf(i core.Instant, zone *time.Location) int32 {
	t := i.Time().In(zone)
	return int32(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

// DayName writes a day as 2026-11-30.
func DayName(day int32) string {
	return time.Unix(int64(day)*86400, 0).UTC().Format(time.DateOnly)
}
