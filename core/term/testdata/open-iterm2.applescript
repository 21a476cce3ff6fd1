on shellLine(argv)
	set typed to "exec"
	repeat with i from 2 to count of argv
		set typed to typed & " " & quoted form of (item i of argv)
	end repeat
	if item 1 of argv is not "" then set typed to "cd " & quoted form of (item 1 of argv) & " && " & typed
	return typed
end shellLine

on run argv
	set typed to shellLine(argv)
	tell application "iTerm2"
		activate
		set w to (create window with default profile)
		tell current session of w to write text typed
	end tell
end run
