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
