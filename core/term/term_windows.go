package term

const (
	nowhere = "but on Windows nothing outside a terminal can tell which window or tab shows a process."
	closed  = "On Windows nothing outside a terminal can tell or focus its windows and tabs."
)
