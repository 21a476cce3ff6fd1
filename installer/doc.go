// Package installer is the only code of Tower that writes into files of other programs: the hook
// entries in an agent's settings. It also lays out what the hook reads, since both are how Tower
// reaches into a session. It promises that a file it cannot understand is refused and never touched,
// that a changed file is written whole or not at all and kept as a copy before, that mode and links of
// a file stay as they are, and that what was installed can be taken away to the byte.
//
// The program's wiring and the command line use it. It knows no agent's format (adapters do the
// editing, on bytes), starts no agent but for the canary a person asked for, answers no agent's
// question about trust, and removes nothing but what it wrote itself, by name.
package installer
