// Package jsonl reads the transcripts that terminal coding agents write: files of one JSON record a
// line, appended to while they are read, torn by crashes and power cuts, and now and then with a line
// of fifty megabytes.
//
// It has two halves. The walker ([Skip], [Object], [Array], [Get] and the readers of single values)
// finds values in raw bytes by stepping over strings and containers; it decodes nothing that nobody
// asked for and validates only the frame. The driver ([Follow]) turns a file and a [core.Cursor] into
// records: it costs the bytes appended, holds a bounded piece of the file in memory, and loses no
// record because of a broken neighbour.
//
// The adapters alone use it. It never writes, never keeps a file open, never knows what a record
// means, and never hands out bytes that outlive the call they were handed to: what an adapter keeps
// it copies ([String], [Head] and bytes.Clone do; a value slice does not).
package jsonl
