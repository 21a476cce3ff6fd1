//go:build linux && !mips && !mipsle && !mips64 && !mips64le

package launch

// signals is how many signals there are.
const signals = 64
