//go:build !race

package classify

const raced = false
