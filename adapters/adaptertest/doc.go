// Package adaptertest is what every adapter has to pass, and what stands in for an agent where none
// can run. [Suite] holds an adapter against the contract of [core.Adapter]; [RecordedTable] is a
// process table made of values; [Fake] is an adapter for an agent that does not exist, and has the
// properties that are easily forgotten: several sessions in one source, two processes a session, and
// one process for several sessions.
//
// Only tests may use it. It runs no agent, asks the operating system about no process, and writes
// below the folders it is given alone.
package adaptertest
