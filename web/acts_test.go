package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tower/core"
)

// quoted writes s as a JSON string in the longest way there is: an escape for each unit.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	b.WriteByte('"')
	return b.String()
}

func TestActs(t *testing.T) {
	f := small()
	w := start(t, f)
	id := f.Snapshot().Rows[0].ID
	at := func(verb string) string { return "/api/sessions/" + string(id) + "/" + verb }
	word, name := strings.Repeat("m", core.MaxWord), strings.Repeat("n", core.MaxName)
	whole := strings.Repeat("x", core.MaxPrompt)
	hard := "quotes \" ' ` $(id) %1 #{x} ;\n-leading\t👩‍👩‍👧 \x1b[201~"
	asked, _ := json.Marshal(hard)
	for _, c := range []struct {
		name, path, body string
		code             int
		want             *core.Command
		says             string
	}{
		{"launch", "/api/launch", `{"agent":"claude","cwd":"/home/dev"}`, 200, &core.Command{Kind: core.CommandLaunch, Agent: "claude", CWD: "/home/dev"}, ""},
		{"launch with everything", "/api/launch", `{"agent":"codex","cwd":"/home/dev/Größe und mehr","model":" gpt-5.5 ","name":" A name ","prompt":" keep my blanks ","terminal":"kitty"}`, 200,
			&core.Command{Kind: core.CommandLaunch, Agent: "codex", CWD: "/home/dev/Größe und mehr", Model: "gpt-5.5", Name: "A name", Text: " keep my blanks ", Terminal: "kitty"}, ""},
		{"launch with an empty model", "/api/launch", `{"agent":"claude","cwd":"/","model":""}`, 200, &core.Command{Kind: core.CommandLaunch, Agent: "claude", CWD: "/"}, ""},
		{"prompt to the byte", "/api/launch", `{"agent":"claude","cwd":"/","prompt":` + string(asked) + `}`, 200, &core.Command{Kind: core.CommandLaunch, Agent: "claude", CWD: "/", Text: hard}, ""},
		{"longest prompt, every byte an escape", "/api/launch", `{"agent":"claude","cwd":"/","prompt":` + quoted(whole) + `}`, 200, &core.Command{Kind: core.CommandLaunch, Agent: "claude", CWD: "/", Text: whole}, ""},
		{"longest words", "/api/launch", `{"agent":"claude","cwd":"/","model":"` + word + `","terminal":"` + word + `","name":"` + name + `"}`, 200,
			&core.Command{Kind: core.CommandLaunch, Agent: "claude", CWD: "/", Model: word, Terminal: word, Name: name}, ""},
		{"no folder", "/api/launch", `{"agent":"claude"}`, 400, nil, "The folder (cwd) is missing: a session starts in one."},
		{"no agent", "/api/launch", `{"cwd":"/"}`, 400, nil, "The agent is missing."},
		{"folder from here", "/api/launch", `{"agent":"claude","cwd":"code"}`, 400, nil, "The folder has to be a full path, from the root on."},
		{"folder of a shell", "/api/launch", `{"agent":"claude","cwd":"~/code"}`, 400, nil, "The folder has to be a full path, from the root on."},
		{"folder too long", "/api/launch", `{"agent":"claude","cwd":"/` + strings.Repeat("a", longestFolder) + `"}`, 400, nil, "The folder has at most 4096 bytes; this one has 4097."},
		{"folder of two lines", "/api/launch", `{"agent":"claude","cwd":"/a\nb"}`, 400, nil, "The folder holds a control character."},
		{"model too long", "/api/launch", `{"agent":"claude","cwd":"/","model":"` + word + `m"}`, 400, nil, "Model has at most 200 bytes; this one has 201."},
		{"model of two lines", "/api/launch", `{"agent":"claude","cwd":"/","model":"a\nb"}`, 400, nil, "Model holds a control character."},
		{"terminal too long", "/api/launch", `{"agent":"claude","cwd":"/","terminal":"` + word + `m"}`, 400, nil, "Terminal has at most 200 bytes; this one has 201."},
		{"terminal with an escape", "/api/launch", `{"agent":"claude","cwd":"/","terminal":"a\u001b"}`, 400, nil, "Terminal holds a control character."},
		{"name too long", "/api/launch", `{"agent":"claude","cwd":"/","name":"` + name + `n"}`, 400, nil, "Name has at most 200 bytes; this one has 201."},
		{"name that turns the text around", "/api/launch", `{"agent":"claude","cwd":"/","name":"a\u202eb"}`, 400, nil, "Name holds a control character."},
		{"agent with a line break", "/api/launch", `{"agent":"claude\n","cwd":"/"}`, 400, nil, "Agent holds a control character."},
		{"prompt too long", "/api/launch", `{"agent":"claude","cwd":"/","prompt":"` + whole + `x"}`, 400, nil, "Prompt has at most 1048576 bytes; this one has 1048577."},
		{"prompt with a NUL", "/api/launch", `{"agent":"claude","cwd":"/","prompt":"a\u0000b"}`, 409, nil, "Not launched. The text holds a NUL character, which no agent can be given."},
		{"end with null", at("end"), `null`, 400, nil, "The body has to be a JSON object."},
		{"not UTF-8", "/api/launch", "{\"agent\":\"claude\",\"cwd\":\"/\",\"prompt\":\"a\xffb\"}", 400, nil, "The body is not UTF-8."},
		{"launch with a field that does not exist", "/api/launch", `{"agent":"claude","cwd":"/","args":["--yolo"]}`, 400, nil, `The body cannot be read: unknown field "args".`},
		{"body too large", "/api/launch", `{"prompt":"` + strings.Repeat("x", maxPromptBody) + `"}`, 413, nil, "The request is larger than 6208 KiB."},

		{"resume", at("resume"), `{}`, 200, &core.Command{Kind: core.CommandResume, Session: id}, ""},
		{"resume without a body", at("resume"), ``, 200, &core.Command{Kind: core.CommandResume, Session: id}, ""},
		{"resume with an empty model", at("resume"), `{"model":""}`, 200, &core.Command{Kind: core.CommandResume, Session: id}, ""},
		{"resume with everything", at("resume"), `{"model":"m","cwd":"/home/dev","terminal":"xterm"}`, 200, &core.Command{Kind: core.CommandResume, Session: id, Model: "m", CWD: "/home/dev", Terminal: "xterm"}, ""},
		{"resume with another agent", at("resume"), `{"agent":"codex"}`, 400, nil, `The body cannot be read: unknown field "agent".`},
		{"resume in a folder from here", at("resume"), `{"cwd":".."}`, 400, nil, "The folder has to be a full path, from the root on."},
		{"resume is small", at("resume"), `{"model":"` + strings.Repeat("x", maxBody) + `"}`, 413, nil, "The request is larger than 64 KiB."},

		{"continue", at("continue"), `{"agent":"codex"}`, 200, &core.Command{Kind: core.CommandContinue, Session: id, Agent: "codex"}, ""},
		{"continue with everything", at("continue"), `{"agent":"codex","cwd":"/home","model":"m","name":"n","prompt":"Go\non","terminal":"t"}`, 200, &core.Command{Kind: core.CommandContinue, Session: id, Agent: "codex", CWD: "/home", Model: "m", Name: "n", Text: "Go\non", Terminal: "t"}, ""},
		{"continue with nobody", at("continue"), `{}`, 400, nil, "The agent is missing."},
		{"continue with a NUL", at("continue"), `{"agent":"codex","prompt":"\u0000"}`, 409, nil, "Not continued. The text holds a NUL character, which no agent can be given."},

		{"attach", at("attach"), `{}`, 200, &core.Command{Kind: core.CommandAttach, Session: id}, ""},
		{"attach here", at("attach"), `{"here":true,"terminal":"kitty"}`, 200, &core.Command{Kind: core.CommandAttach, Session: id, Here: true, Terminal: "kitty"}, ""},
		{"jump", at("focus"), `{}`, 200, &core.Command{Kind: core.CommandJump, Session: id}, ""},
		{"jump to a window of the asker's choice", at("focus"), `{"window":1}`, 400, nil, `The body cannot be read: unknown field "window".`},
		{"end", at("end"), `{}`, 200, &core.Command{Kind: core.CommandEnd, Session: id}, ""},
		{"end by force", at("end"), `{"force":true}`, 200, &core.Command{Kind: core.CommandEnd, Session: id, Force: true}, ""},
		{"end with a signal", at("end"), `{"signal":9}`, 400, nil, `The body cannot be read: unknown field "signal".`},
		{"type", at("type"), `{"text":` + string(asked) + `}`, 200, &core.Command{Kind: core.CommandType, Session: id, Text: hard}, ""},
		{"type the longest", at("type"), `{"text":` + quoted(whole) + `}`, 200, &core.Command{Kind: core.CommandType, Session: id, Text: whole}, ""},
		{"type nothing", at("type"), `{"text":""}`, 400, nil, "text is missing: there is nothing to deliver."},
		{"type a NUL", at("type"), `{"text":"\u0000"}`, 409, nil, "Not delivered. The text holds a NUL character, which no agent can be given."},
		{"type too much", at("type"), `{"text":"` + whole + `x"}`, 400, nil, "Text has at most 1048576 bytes; this one has 1048577."},
		{"closeout", at("closeout"), `{}`, 200, &core.Command{Kind: core.CommandCloseout, Session: id}, ""},
		{"closeout of one that runs", at("closeout-live"), `{}`, 200, &core.Command{Kind: core.CommandCloseout, Session: id, Text: "live"}, ""},
		{"closeout with a text of one's own", at("closeout"), `{"text":"rm"}`, 400, nil, `The body cannot be read: unknown field "text".`},
		{"id that is a path", "/api/sessions/..%2f..%2fetc/end", `{}`, 400, nil, "This is not the id of a session."},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := len(f.commands())
			a := w.over("POST", c.path, c.body)
			if a.Code != c.code {
				t.Fatalf("POST %s = %d %.300s, want %d", c.path, a.Code, a.Body, c.code)
			}
			done := f.commands()[before:]
			if c.want == nil {
				var e fault
				if a.into(t, &e); len(done) != 0 || e.Text != c.says || e.Refused != (c.code == 409) {
					t.Errorf("commands %v, answer %s, want %q", done, a.Body, c.says)
				}
				return
			}
			c.want.By = "cli"
			if diff := cmp.Diff([]core.Command{*c.want}, done); diff != "" {
				t.Errorf("command (-want +got):\n%.2000s", diff)
			}
		})
	}
}

// TestActsOverTCP sends one of each as a signed-in page does, and as nobody.
func TestActsOverTCP(t *testing.T) {
	f := small()
	w := start(t, f)
	cookie, key := w.signedIn()
	id := string(f.Snapshot().Rows[0].ID)
	for path, body := range map[string]string{
		"/api/launch": `{"agent":"claude","cwd":"/"}`, "resume": `{}`, "continue": `{"agent":"codex"}`, "attach": `{}`, "focus": `{}`, "end": `{}`,
		"type": `{"text":"` + strings.Repeat("x", 200<<10) + `"}`, "closeout": `{}`, "closeout-live": `{}`,
	} {
		if !strings.HasPrefix(path, "/") {
			path = "/api/sessions/" + id + "/" + path
		}
		before := len(f.commands())
		if a := w.tcp("POST", path, body, "Cookie", cookie); a.Code != 401 || len(f.commands()) != before {
			t.Errorf("%s with half a key = %d", path, a.Code)
		}
		if a := w.tcp("POST", path, body, "Cookie", cookie, KeyHeader, key, "Origin", "http://evil.example"); a.Code != 403 || len(f.commands()) != before {
			t.Errorf("%s from another page = %d", path, a.Code)
		}
		a := w.tcp("POST", path, body, "Cookie", cookie, KeyHeader, key)
		if did := f.commands()[before:]; a.Code != 200 || len(did) != 1 || did[0].By != "page" {
			t.Errorf("%s = %d %s, commands %v", path, a.Code, a.Body, did)
		}
	}
}

// TestNobodyAttachesInABrowser refuses what only a program with a terminal can ask for.
func TestNobodyAttachesInABrowser(t *testing.T) {
	f := small()
	w := start(t, f)
	cookie, key := w.signedIn()
	a := w.tcp("POST", "/api/sessions/"+string(f.Snapshot().Rows[0].ID)+"/attach", `{"here":true}`, "Cookie", cookie, KeyHeader, key)
	if a.Code != 400 || !strings.Contains(a.Body, "A browser has no terminal to attach in.") || len(f.commands()) != 0 {
		t.Errorf("attach here from a page = %d %s", a.Code, a.Body)
	}
}

func TestWhatCameOfIt(t *testing.T) {
	f := small()
	w := start(t, f)
	at := "/api/sessions/" + string(f.Snapshot().Rows[0].ID) + "/"
	proc := core.Process{Boot: "b", PID: 7, Start: 9}
	for _, c := range []struct {
		name, path string
		result     core.Result
		err        error
		code       int
		want       string
	}{
		{"ended", at + "end", core.Result{Said: "Ended x.", End: &core.EndResult{Ended: true, WindowClosed: ref(true), Detail: "Its window closed."}}, nil, 200,
			`{"said":"Ended x.","end":{"ended":true,"window_closed":true,"detail":"Its window closed."}}`},
		{"window stayed", at + "end", core.Result{Said: "Ended x. Its window is still open.", End: &core.EndResult{Ended: true, WindowClosed: ref(false)}}, nil, 200,
			`{"said":"Ended x. Its window is still open.","end":{"ended":true,"window_closed":false,"detail":null}}`},
		{"it lives on", at + "end", core.Result{Said: "Not ended. Process 7 still runs 5 s after SIGTERM.", End: &core.EndResult{Detail: "Process 7 still runs 5 s after SIGTERM."}}, nil, 200,
			`{"said":"Not ended. Process 7 still runs 5 s after SIGTERM.","end":{"ended":false,"window_closed":null,"detail":"Process 7 still runs 5 s after SIGTERM."}}`},
		{"launched", at + "resume", core.Result{Said: "Launched.", Launch: &core.LaunchResult{Token: "t", Agent: "codex", Proc: proc, Terminal: "kitty", Cautions: []string{"The prompt is in a file."}}}, nil, 200,
			`{"said":"Launched.","launch":{"token":"t","agent":"codex","asm_id":null,"process":{"boot_id":"b","pid":7,"start":9},"terminal":"kitty","cautions":["The prompt is in a file."]}}`},
		{"refused", at + "end", core.Result{}, fmt.Errorf("end: %w", &core.Refusal{What: "Not ended.", Why: "Its start time cannot be read.", Hint: "End it in its own window."}), 409,
			`{"error":"Not ended. Its start time cannot be read.","hint":"End it in its own window.","refused":true}`},
		{"refused and not written", at + "end", core.Result{}, errors.Join(&core.Refusal{What: "Not ended.", Why: "It is another."}, errors.New("disk full")), 409,
			`{"error":"Not ended. It is another.","hint":"","refused":true}`},
		{"failed", "/api/launch", core.Result{}, errors.New("open window: kitty exited with 1"), 500, `{"error":"open window: kitty exited with 1","hint":"","refused":false}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f.answer = func(core.Command) (core.Result, error) { return c.result, c.err }
			body := `{}`
			if c.path == "/api/launch" {
				body = `{"agent":"claude","cwd":"/"}`
			}
			if a := w.over("POST", c.path, body); a.Code != c.code || strings.TrimSpace(a.Body) != c.want {
				t.Errorf("answer = %d %s, want %d %s", a.Code, a.Body, c.code, c.want)
			}
		})
	}
}

// TestWhoLeavesDoesNotAbort closes the connection while an action is under way: the engine learns that
// nobody waits and goes on.
func TestWhoLeavesDoesNotAbort(t *testing.T) {
	began, left, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	f := &leaving{fakeEngine: small(), do: func(ctx context.Context) {
		close(began)
		<-ctx.Done()
		close(left)
		<-done
	}}
	s := New(Options{Engine: f, Secrets: newMemory()})
	srv := httptest.NewServer(s.Socket())
	t.Cleanup(srv.Close)
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", srv.URL+"/api/sessions/"+string(f.Snapshot().Rows[0].ID)+"/end", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answered := make(chan error, 1)
	go func() {
		res, err := http.DefaultClient.Do(r)
		if err == nil {
			res.Body.Close()
		}
		answered <- err
	}()
	within(t, "the action began", began)
	leave()
	if err := <-answered; !errors.Is(err, context.Canceled) {
		t.Errorf("who left got %v", err)
	}
	within(t, "the engine heard that nobody waits", left)
	close(done)
}

// leaving is an engine whose actions can be watched while they are under way.
type leaving struct {
	*fakeEngine
	do func(context.Context)
}

func (l *leaving) Do(ctx context.Context, c core.Command) (core.Result, error) {
	l.do(ctx)
	return core.Result{Said: "Done."}, nil
}

func within(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatalf("never: %s", what)
	}
}

func TestEnvironment(t *testing.T) {
	const secret = "API_KEY=correct-horse-battery"
	var log strings.Builder
	f := small()
	f.token, f.env = "0f3a-token", func() ([]string, error) { return []string{"PATH=/bin", secret, "EMPTY="}, nil }
	w := start(t, f, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	path := "/api/launches/" + f.token + "/environment"
	a := w.over("POST", path, "")
	if want := `{"env":["PATH=/bin","` + secret + `","EMPTY="]}`; a.Code != 200 || strings.TrimSpace(a.Body) != want || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("environment = %d %s %v", a.Code, a.Body, a.Header)
	}
	if len(f.asked) != 1 || f.asked[0] != os.Getpid() && runtime.GOOS != "windows" {
		t.Errorf("the engine was told pids %v, want %d, who asked", f.asked, os.Getpid())
	}
	for path, code := range map[string]int{
		"/api/launches/another/environment": 404, "/api/launches/" + strings.Repeat("x", core.MaxWord+1) + "/environment": 400,
		"/api/launches/a%0ab/environment": 400, "/api/launches/" + f.token + "/environment?x=1": 200,
	} {
		if a := w.over("POST", path, "{}"); a.Code != code {
			t.Errorf("%s = %d %s, want %d", path, a.Code, a.Body, code)
		}
	}
	if a := w.over("POST", path, `{"pid":1}`); a.Code != 400 {
		t.Errorf("a pid of the asker's choice = %d", a.Code)
	}
	if a := w.over("GET", path, ""); a.Code != 405 {
		t.Errorf("GET = %d", a.Code)
	}
	f.env = func() ([]string, error) {
		return nil, &core.Refusal{What: "Not told.", Why: "Process 9 is not the one that was launched."}
	}
	if a := w.over("POST", path, ""); a.Code != 410 || !strings.Contains(a.Body, "Process 9 is not the one") {
		t.Errorf("a refusal = %d %s", a.Code, a.Body)
	}
	f.env = nil
	if a := w.over("POST", path, ""); a.Code != 404 || !strings.Contains(a.Body, "No launch with this token waits for an environment.") {
		t.Errorf("a launch that is over = %d %s", a.Code, a.Body)
	}
	asked := len(f.asked)
	cookie, key := w.signedIn()
	if a := w.tcp("POST", path, "{}", "Cookie", cookie, KeyHeader, key); a.Code != 403 || len(f.asked) != asked {
		t.Errorf("a page that asks = %d", a.Code)
	}
	w.stop()
	if strings.Contains(log.String(), "correct-horse") {
		t.Errorf("the environment was logged:\n%s", log.String())
	}
	if log.Len() == 0 {
		t.Error("nothing was logged at all: this test looks at nothing")
	}
	// An engine that launches nothing has none to give.
	bare := start(t, f, func(o *Options) { o.Engine = struct{ Engine }{f} })
	if a := bare.over("POST", path, ""); a.Code != 404 {
		t.Errorf("without the ability = %d %s", a.Code, a.Body)
	}
}
