package core

// Output is the class of an agent's last output, as core/classify judges it.
type Output string

// The classes.
const (
	OutputComplete   Output = "COMPLETE" // the task as a whole is finished
	OutputDone       Output = "DONE"     // the turn ended, nothing is asked
	OutputQuestion   Output = "QUESTION"
	OutputNeedHelp   Output = "NEED_HELP"
	OutputTestFailed Output = "TEST_FAILED"
	OutputTypeError  Output = "TYPE_ERROR"
	OutputWorking    Output = "WORKING"
)

// Said is the class of an output with the line that proves it.
type Said struct {
	Class Output  `json:"class"`
	Line  string  `json:"line"` // "" when the class rests on the absence of any other
	At    Instant `json:"at"`
}
