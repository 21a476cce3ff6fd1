// Package live is the one reducer: it turns Events into the state of sessions, and it is the only
// place where a status or a pill changes. It is pure. It reads no clock, no file and no process
// table; what it needs to know of the world arrives inside the Event. The same events in the same
// order give the same picture, which is what makes the whole rule set testable in a second.
//
// A [Picture] holds every session of the ledger, the runs that are open, and what each live session
// is doing. [Picture.Apply] takes one Event and returns an [Outcome]: the rows to be kept, and
// whether a fact that some face shows has moved. The caller owns the Picture and calls it from one
// goroutine; the Sessions and Rows it hands out are never changed afterwards.
//
// Status and pill are decided apart. The status follows [Table], data with a row for every status
// and every kind of event. The pill follows the agent's own evidence, which beats what hooks told,
// since a hook that does not fire would otherwise stick for ever.
package live
