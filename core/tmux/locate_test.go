package tmux

import "testing"

func TestLocate(t *testing.T) {
	for _, c := range []struct{ name, tmux, pane, socket string }{
		{"default", "/tmp/tmux-1000/default,4711,0", "%3", "/tmp/tmux-1000/default"},
		{"commas in the path", "/tmp/a,1,2/s,4711,12", "%0", "/tmp/a,1,2/s"},
		{"blank in the path", "/home/a b/s,1,1", "%10", "/home/a b/s"},
		{"no tmux", "", "%3", ""},
		{"no pane", "/s,1,1", "", ""},
		{"pane is no id", "/s,1,1", "3", ""},
		{"pane is a name", "/s,1,1", "%x", ""},
		{"pane with more", "/s,1,1", "%1;kill-server", ""},
		{"no pid", "/s,,1", "%1", ""},
		{"only a path", "/s", "%1", ""},
		{"one number", "/s,1", "%1", ""},
		{"relative", "s,1,1", "%1", ""},
		{"negative", "/s,-1,1", "%1", ""},
		{"NUL", "/s\x00,1,1", "%1", ""},
	} {
		env := map[string]string{"TMUX": c.tmux, "TMUX_PANE": c.pane}
		socket, pane, ok := Locate(env)
		if want := c.socket != ""; ok != want || socket != c.socket || want && pane != c.pane {
			t.Errorf("%s: Locate = %q %q %v, want %q", c.name, socket, pane, ok, c.socket)
		}
	}
	if _, _, ok := Locate(nil); ok {
		t.Error("Locate(nil) found something")
	}
}
