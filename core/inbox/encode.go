package inbox

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"tower/core"
)

// encode writes an envelope by hand. The payload has to stay byte for byte as it is, where the
// encoder of the library would squeeze out blanks and escape characters; and to learn a type of
// twenty fields by reflection takes the library as long as all the rest of a hook's work on the
// file. A test holds the result to what the library writes.
func encode(e *core.Envelope) ([]byte, error) {
	payload := e.Payload
	if len(payload) == 0 {
		payload = json.RawMessage("null")
	} else if !json.Valid(payload) {
		return nil, ErrPayload
	}
	b := make([]byte, 0, 2048+len(payload))
	b = strconv.AppendInt(append(b, `{"v":`...), int64(e.V), 10)
	b = quote(append(b, `,"event_id":`...), e.EventID)
	b = maybe(append(b, `,"asm_id":`...), (*string)(e.ASMID))
	b = quote(append(b, `,"agent":`...), string(e.Agent))
	b = quote(append(b, `,"event":`...), e.Event)
	b = append(b, `,"ts":`...)
	if e.TS == 0 {
		b = append(b, "null"...)
	} else {
		b = quote(b, e.TS.String())
	}
	b = maybe(append(b, `,"agent_session_id":`...), e.AgentSessionID)
	b = maybe(append(b, `,"transcript_path":`...), e.TranscriptPath)
	b = maybe(append(b, `,"cwd":`...), e.CWD)
	b = maybe(append(b, `,"source":`...), e.Source)
	b = maybe(append(b, `,"launch_token":`...), e.LaunchToken)
	b = maybe(append(b, `,"session_name":`...), e.SessionName)
	b = maybe(append(b, `,"boot_id":`...), e.BootID)
	b = append(b, `,"agent_pid":`...)
	if e.AgentPID == nil {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendInt(b, int64(*e.AgentPID), 10)
	}
	b = append(b, `,"agent_proc_start":`...)
	if e.AgentProcStart == nil {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendUint(b, *e.AgentProcStart, 10)
	}
	b = ancestors(append(b, `,"ancestors":`...), e.Ancestors)
	b = truth(append(b, `,"nested":`...), e.Nested)
	b = maybe(append(b, `,"entrypoint":`...), e.Entrypoint)
	b = truth(append(b, `,"pid_shared":`...), e.PIDShared)
	b = append(b, `,"hook_ms":`...)
	if e.HookMS == nil {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendFloat(b, *e.HookMS, 'f', -1, 64)
	}
	b = append(append(b, `,"payload":`...), payload...)
	return append(b, '}'), nil
}

func ancestors(b []byte, chain []core.Ancestor) []byte {
	if chain == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i, a := range chain {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, `{"pid":`...), int64(a.PID), 10)
		b = strconv.AppendInt(append(b, `,"ppid":`...), int64(a.PPID), 10)
		b = strconv.AppendUint(append(b, `,"created":`...), a.Created, 10)
		b = quote(append(b, `,"exe":`...), a.Exe)
		b = append(b, `,"args":`...)
		if a.Args == nil {
			b = append(b, "null}"...)
			continue
		}
		b = append(b, '[')
		for j, arg := range a.Args {
			if j > 0 {
				b = append(b, ',')
			}
			b = quote(b, arg)
		}
		b = append(b, "]}"...)
	}
	return append(b, ']')
}

func maybe(b []byte, s *string) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	return quote(b, *s)
}

func truth(b []byte, v *bool) []byte {
	if v == nil {
		return append(b, "null"...)
	}
	return strconv.AppendBool(b, *v)
}

// quote appends a JSON string. What is no UTF-8 becomes the replacement character.
func quote(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
