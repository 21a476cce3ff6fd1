package inbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tower/core"

	"github.com/google/go-cmp/cmp"
)

func TestDrainOrder(t *testing.T) {
	b, f := box(t)
	late, early := event(2000), event(1000)
	write(t, f, late)
	write(t, f, early)
	same := event(1000)
	write(t, f, same)
	// A name whose time is not the event's own: the event's counts.
	odd := event(1500)
	name := write(t, f, odd)
	if err := os.Rename(filepath.Join(f.in, name), filepath.Join(f.in, "9999-x.json")); err != nil {
		t.Fatal(err)
	}
	var got []core.Instant
	last := ""
	for _, it := range drain(t, b).Items {
		got = append(got, it.Envelope.TS)
		if it.Envelope.TS == 1000 {
			if it.Name < last {
				t.Errorf("%s came behind %s", it.Name, last)
			}
			last = it.Name
		}
	}
	if diff := cmp.Diff([]core.Instant{1000, 1000, 1500, 2000}, got); diff != "" {
		t.Error(diff)
	}
}

func TestDrainBadFiles(t *testing.T) {
	for _, c := range []struct {
		name, content string
		first, second string // "later", or part of the reason
	}{
		{"empty", "", "later", "it is empty"},
		{"torn", `{"v":1,"event_id":"`, "later", "not an event"},
		{"no JSON", "hello", "later", "not an event"},
		{"NULs", strings.Repeat("\x00", 100), "later", "not an event"},
		{"list", "[]", "later", "not an event"},
		{"no version", `{"event_id":"x"}`, "later", "no version"},
		{"no agent", `{"v":1,"event_id":"x","event":"Stop","ts":"2026-11-30T00:00:00Z"}`, "later", "no agent"},
		{"no time", `{"v":1,"event_id":"x","event":"Stop","agent":"a","ts":"yesterday"}`, "later", "no ts"},
		{"wrong type", `{"v":1,"event_id":7}`, "later", "not an event"},
		{"deep", `{"v":1,"payload":` + strings.Repeat("[", 100_000), "later", "not an event"},
		{"newer", `{"v":2,"event_id":7}`, "written by a newer one", ""},
		{"version 0", `{"v":0}`, "its version is 0", ""},
		{"huge", strings.Repeat(" ", maxFile+1), "more than", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, f := box(t)
			good := write(t, f, event(1))
			plant(t, f, "0-bad.json", c.content)
			batch := drain(t, b)
			if len(batch.Items) != 1 || batch.Items[0].Name != good {
				t.Errorf("the good file did not come through: %+v", batch)
			}
			if c.first == "later" {
				if batch.Later != 1 || len(batch.Bad) != 0 {
					t.Fatalf("first drain = %+v, want one file tried later", batch)
				}
				batch = drain(t, b)
			}
			want := c.second
			if c.first != "later" {
				want = c.first
			}
			if len(batch.Bad) != 1 || !strings.Contains(batch.Bad[0].Reason, want) {
				t.Fatalf("bad = %+v, want a reason with %q", batch.Bad, want)
			}
			line, err := b.Quarantine(batch.Bad[0])
			if err != nil || !strings.Contains(line, "0-bad.json") || !strings.Contains(line, want) || strings.Contains(line, "\n") {
				t.Errorf("Quarantine = %q, %v", line, err)
			}
			if b.CountBad() != 1 || len(names(f.in)) != 1 {
				t.Errorf("bad %v, inbox %v", names(f.bad), names(f.in))
			}
			if batch = drain(t, b); len(batch.Bad)+batch.Later != 0 || len(batch.Items) != 1 {
				t.Errorf("drain after quarantine = %+v", batch)
			}
		})
	}
}

func TestWholeAtSecondSight(t *testing.T) {
	b, f := box(t)
	plant(t, f, "1-x.json", `{"v":1,`)
	if batch := drain(t, b); batch.Later != 1 {
		t.Fatalf("first drain = %+v", batch)
	}
	plant(t, f, "1-x.json", `{"v":1,"event_id":"x","event":"Stop","agent":"a","ts":"2026-11-30T00:00:00.000Z"}`)
	if batch := drain(t, b); len(batch.Items) != 1 || len(batch.Bad) != 0 {
		t.Errorf("second drain = %+v, want the event", batch)
	}
	// Torn anew: the count begins again.
	plant(t, f, "1-x.json", `{`)
	if batch := drain(t, b); batch.Later != 1 || len(batch.Bad) != 0 {
		t.Errorf("third drain = %+v, want it tried later", batch)
	}
}

func TestDrainLooksAtEventsOnly(t *testing.T) {
	b, f := box(t)
	if batch := drain(t, b); len(batch.Items) != 0 {
		t.Errorf("drain of a missing folder = %+v", batch)
	}
	for _, name := range []string{"1-x.json.tmp", "notes.txt", ".json.swp", "json"} {
		plant(t, f, name, "{")
	}
	if diff := cmp.Diff(Batch{}, drain(t, b)); diff != "" {
		t.Error(diff)
	}
	if got := len(names(f.in)); got != 4 {
		t.Errorf("%d files left of 4", got)
	}
	notDir := New(filepath.Join(f.in, "notes.txt"), f.processed, f.bad, time.Now)
	if _, err := notDir.Drain(); err == nil {
		t.Error("Drain of a file gave no error")
	}
}

func TestDrainFullBatch(t *testing.T) {
	b, f := box(t)
	for i := range maxFiles + 5 {
		write(t, f, event(core.Instant(1000+i)))
	}
	batch := drain(t, b)
	if len(batch.Items) != maxFiles || !batch.More || batch.Items[0].Envelope.TS != 1000 {
		t.Fatalf("first batch has %d items, more %v", len(batch.Items), batch.More)
	}
	for _, it := range batch.Items {
		if err := b.Archive(it); err != nil {
			t.Fatal(err)
		}
	}
	if batch = drain(t, b); len(batch.Items) != 5 || batch.More {
		t.Errorf("second batch has %d items, more %v", len(batch.Items), batch.More)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"v":1,"event_id":"x","event":"Stop","agent":"a","ts":"2026-11-30T00:00:00.000Z","payload":{"a":1}}`))
	f.Add([]byte(`{"v":2}`))
	f.Add([]byte(`{"v":1,"ancestors":[{"pid":1,"args":["x"]}]}`))
	f.Add([]byte("\xef\xbb\xbf{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := parse(data)
		if err != nil {
			var final *finalError
			if !errors.Is(err, errParse) && !errors.As(err, &final) {
				t.Fatalf("error %v is of no kind a drain knows", err)
			}
			return
		}
		again, err := encode(&e)
		if err != nil {
			t.Fatalf("an envelope that was read cannot be written: %v", err)
		}
		back, err := parse(again)
		if err != nil {
			t.Fatalf("an envelope that was written cannot be read: %v", err)
		}
		if string(back.Payload) != string(e.Payload) {
			t.Fatalf("payload %q became %q", e.Payload, back.Payload)
		}
	})
}
