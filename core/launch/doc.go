// Package launch starts an agent in a terminal that the tower opened: the order the tower writes, and
// the program in that terminal, `tower exec`, that carries the order out and becomes the agent. It
// promises that the agent gets the environment of a person's own new terminal and nothing of what
// happened to be around the tower; that its argument list, folder and prompt arrive byte for byte,
// with no shell between; that pid and start it reports are the agent's own; and that an order is
// carried out once. The engine writes orders and reads reports, the command line calls Exec. It
// never opens a window, never reads settings or the ledger, never starts an agent in another folder
// than the one asked for, and never writes the login environment anywhere: keys are in it.
//
// # The way of a launch
//
//	engine   Write: launches/TOKEN.json, launches/TOKEN.prompt
//	terminal tower exec .../launches/TOKEN.json
//	         Read, one run an order (TOKEN.started)
//	         POST http://tower/api/launches/TOKEN/environment -> the login environment, in memory
//	         folder, program, report into the inbox, execve
//	engine   ReportOf: pid and start of what will be the agent
//
// # Where an environment comes from
//
// The login environment is what the person's shell says when it is started from an environment that
// was scrubbed before (see [Login]): a variable in it is one the person sets. Over it lies what the
// terminal says of itself and of its display. Everything else that the launcher inherits comes from
// whoever started the tower, perhaps an agent's own shell, and is left behind. Without a tower that
// answers, the inherited environment has to do, scrubbed.
package launch
