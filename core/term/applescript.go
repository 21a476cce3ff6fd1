package term

import (
	"strings"

	"tower/core"
)

// The scripts for the two terminals of macOS that are told what to do by AppleScript. They are constant:
// every value is an argument of `osascript -`, so that none can become a part of a script. The command line
// for the shell is put together inside, by quoted form, which leaves nothing of a value to the shell.
//
// `open -a Terminal FILE` was rejected: it takes one executable file and no argument, so that each launch
// would leave a script behind.
const (
	shellLine = `
on shellLine(argv)
	set typed to "exec"
	repeat with i from 2 to count of argv
		set typed to typed & " " & quoted form of (item i of argv)
	end repeat
	if item 1 of argv is not "" then set typed to "cd " & quoted form of (item 1 of argv) & " && " & typed
	return typed
end shellLine
`
	openInTerminal = shellLine + `
on run argv
	set typed to shellLine(argv)
	tell application "Terminal"
		activate
		do script typed
	end tell
end run
`
	openInITerm = shellLine + `
on run argv
	set typed to shellLine(argv)
	tell application "iTerm2"
		activate
		set w to (create window with default profile)
		tell current session of w to write text typed
	end tell
end run
`
	// The rest is told a tty and answers with the tty that is in front afterwards, or with nothing.
	focusTerminal = `
on run argv
	set wanted to item 1 of argv
	tell application "Terminal"
		repeat with w in windows
			repeat with t in tabs of w
				if tty of t is wanted then
					set selected of t to true
					set index of w to 1
					activate
					return tty of selected tab of front window
				end if
			end repeat
		end repeat
	end tell
	return ""
end run
`
	focusITerm = `
on run argv
	set wanted to item 1 of argv
	tell application "iTerm2"
		repeat with w in windows
			repeat with t in tabs of w
				repeat with s in sessions of t
					if tty of s is wanted then
						select w
						select t
						select s
						activate
						return tty of current session of current window
					end if
				end repeat
			end repeat
		end repeat
	end tell
	return ""
end run
`
	listTerminal = `
on run argv
	set found to ""
	if application "Terminal" is running then
		tell application "Terminal"
			repeat with w in windows
				repeat with t in tabs of w
					set found to found & tty of t & linefeed
				end repeat
			end repeat
		end tell
	end if
	return found
end run
`
	listITerm = `
on run argv
	set found to ""
	if application "iTerm2" is running then
		tell application "iTerm2"
			repeat with w in windows
				repeat with t in tabs of w
					repeat with s in sessions of t
						set found to found & tty of s & linefeed
					end repeat
				end repeat
			end repeat
		end tell
	end if
	return found
end run
`
	frontmost = `
on run argv
	tell application "System Events" to set front to name of first application process whose frontmost is true
	if front is "Terminal" then
		tell application "Terminal" to return "terminal " & (tty of selected tab of front window)
	else if front is "iTerm2" then
		tell application "iTerm2" to return "iterm2 " & (tty of current session of current window)
	end if
	return ""
end run
`
)

// script completes a command that runs an AppleScript with the folder and the program as its arguments.
func script(c Command, text string, s Spec) Command {
	c.Argv = append([]string{"osascript", "-", s.Dir}, s.Argv...)
	c.Stdin = text
	c.Dir = "" // the shell changes into it; osascript itself may be anywhere
	return c
}

// focusScript is the script that brings the tab or session with a tty to the front.
func focusScript(kind string) (string, bool) {
	switch kind {
	case appleTerminal:
		return focusTerminal, true
	case iterm2:
		return focusITerm, true
	}
	return "", false
}

// listScript is the script that lists the ttys a terminal shows, one a line.
func listScript(kind string) (string, bool) {
	switch kind {
	case appleTerminal:
		return listTerminal, true
	case iterm2:
		return listITerm, true
	}
	return "", false
}

// readTTYs reads the answer of a list script.
func readTTYs(kind, out string) []Window {
	var all []Window
	for line := range strings.Lines(out) {
		if tty := strings.TrimSpace(line); strings.HasPrefix(tty, "/dev/") {
			all = append(all, Window{Kind: kind, ID: tty, Terminal: kind, How: "tty", Shared: true})
		}
	}
	return all
}

// readFront reads the answer of the script that tells what is in front.
func readFront(out string) (Window, error) {
	kind, tty, ok := strings.Cut(out, " ")
	if !ok || !strings.HasPrefix(tty, "/dev/") {
		return Window{}, &core.Refusal{What: "No window in focus.", Why: "Neither Terminal nor iTerm2 is in front."}
	}
	return Window{Kind: kind, ID: tty, Terminal: kind, How: "tty", Shared: true}, nil
}
