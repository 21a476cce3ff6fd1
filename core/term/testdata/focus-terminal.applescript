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
