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
