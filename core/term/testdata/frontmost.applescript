on run argv
	tell application "System Events" to set front to name of first application process whose frontmost is true
	if front is "Terminal" then
		tell application "Terminal" to return "terminal " & (tty of selected tab of front window)
	else if front is "iTerm2" then
		tell application "iTerm2" to return "iterm2 " & (tty of current session of current window)
	end if
	return ""
end run
