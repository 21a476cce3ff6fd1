//go:build !linux

package main

const envDisk = "TOWER_TEST_DISK"

func onDisk(string) int { return 0 }
