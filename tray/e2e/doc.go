// Package e2e is the gate that nothing made up can pass: the real Claude Code and the real Codex, in
// real terminals, against a real tower. Its tests carry the build tag e2e and are run by "make e2e";
// nothing imports it, and it holds no code that ships.
//
// Everything happens in scratch folders below one cache folder outside the checkout (E2E_CACHE, by
// default tower-e2e in the user's cache folder), which also keeps the agents' npm packages between
// runs. The agents talk to two stand-ins for their makers' services, on loopback, in this process;
// whatever else they do is their own. A real home, a real session bus and the machine's other agents
// are never touched: every process started here carries a tag in its environment, and only processes
// with that tag are ended. Windows open on a display that nobody sees, with a window manager and a bus
// of its own; how many there are and which is in front is asked of that display, never of the tower.
//
// A run ends with a line a gate: RAN, FAILED, or SKIPPED with its reason. A part that cannot be had is
// a failure unless E2E_SKIP names it (claude, codex, bus, corpus, desktop, separated by commas), and
// inside a gate that ran no assertion is left out. A gate may be run alone: it sees to what it needs.
// Waits are polls with a deadline. Deadlines of the agents and of the rig are generous, since an agent
// on two busy cores is ten times slower (E2E_PATIENCE multiplies them); deadlines of the tower are the
// promised ones, and what was measured is printed.
package e2e
