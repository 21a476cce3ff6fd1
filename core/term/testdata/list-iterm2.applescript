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
