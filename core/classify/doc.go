// Package classify judges what an agent said last: is the work finished, is something asked, is help
// needed, did tests or types fail, or does it go on. It answers with a class and the line that proves
// it, so that a face can show why. The engine asks it about the message a turn ended with, and, where
// there is no message, about the tail of a terminal.
//
// It is pure: the same text always gets the same answer, nothing is read, kept or learned, and the
// time is linear in the text. It never guesses at meaning. It knows the phrases that coding agents use
// and the lines that test runners and compilers print, in English, and a text without any of them is a
// turn that ended with nothing asked.
//
// # What counts
//
// A text is cut into lines and sentences. What stands in a code block, in a quoted paragraph, between
// quotation marks or between backticks is a mention and proves nothing; a name between backticks still
// serves as the subject of a sentence, so "`go test` fails" is a statement about tests. A statement
// counts as it stands in its clause: "no tests failed", "0 failed" and "I don't need help" are negated,
// "if a test fails" is a condition, "fixed the failing test" is over, and "all tests pass now" takes
// back every failure told before it. "All other tests pass" does not.
//
// A question counts when the person is asked it at the end. What follows it may be its options, a
// recommendation or a short remark; an answer given by the agent itself makes it rhetorical. Requests
// for a choice without a question mark count the same way ("let me know which"); courtesies ("let me
// know if you need anything else") do not.
//
// The task as a whole must be called finished for COMPLETE; a step, a phase or a part of it is not, nor
// is a whole that names what is left. A message whose last sentence says what the agent does next is
// WORKING, whatever it has finished before.
//
// # Which class wins
//
// A mark for machines at the start of a line ("STATUS: NEED_HELP") or alone as the last sentence
// ("DONE") beats every phrase. Otherwise, and among marks, the order is NEED_HELP, QUESTION,
// TEST_FAILED, TYPE_ERROR, COMPLETE, DONE, WORKING. Where nothing is found the class is DONE and there
// is no line; a text without a single word has no class at all.
//
// A screen is a weaker witness than a message: it shows frames, menus and other people's words too. From
// it a class is taken only when something on it proves one.
package classify
