//go:build !linux && !freebsd && !openbsd && !netbsd && (!darwin || cgo)

package main

import "context"

// bus is the session bus, which this system does not have: it is always there and never lost.
type bus struct{ lost, host <-chan struct{} }

func awaitBus(ctx context.Context, _ func(error)) (*bus, error) { return &bus{}, ctx.Err() }

func (b *bus) close() {}

func (b *bus) connected(ctx context.Context, _ func()) bool { return ctx.Err() == nil }

func (b *bus) hosted(context.Context) bool { return true }

func (b *bus) watchHosts(context.Context) {}
