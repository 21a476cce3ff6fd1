//go:build race

package classify

const raced = true // times mean nothing under the race detector
