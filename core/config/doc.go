// Package config reads what the person decided: config.toml and agents.toml, over the defaults
// documented in [Keys], under TOWER_* variables and flags, in that order of strength. It answers
// with a checked [core.Config] and, for every value, where it came from.
//
// A key that does not exist, a value of the wrong type or outside what is allowed is an [*Error] that
// names file, line, key and what is allowed, and nothing starts on it: a setting that is silently
// ignored is worse than a program that says so. The package writes nothing. The composition root
// calls it once; nobody else reads these files.
package config
