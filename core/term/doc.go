// Package term opens terminal windows and finds, focuses and checks the window in which a process shows.
//
// It promises that a window is told by ids and ancestry alone, never by a name or a guess: what [Desk.Find]
// returns has been proven to show that very process, what [Desk.Focus] returns nil for has been seen to be
// in focus, and everything it will not do is a [tower/core.Refusal] with the reason and the way on. Every
// call ends: by its context, and by limits of its own where it waits for a display, a terminal's socket or
// another program.
//
// The engine uses it, in its workers. It never closes a window, never signals a process, never types where
// a terminal offers no door for it, and changes nothing but the focus and, for at most half a second where
// nothing else can tell windows of one process apart, a title.
//
// The words: a terminal is a program with a name of [Names]; [Look.Choose] picks one, [Build] makes its
// command line, [Open] starts it. A [Desk] is what can be seen of the desktop.
//
// Run on real programs: xterm, kitty, alacritty, xfce4-terminal, gnome-terminal and x-terminal-emulator on
// X11. Not verified on a real system: wezterm, xdg-terminal-exec, everything on macOS and Windows, and
// Wayland without XWayland; there the command lines are held by golden files, their [Command] says
// Unverified, and each consequence is still checked when it is asked for.
package term
