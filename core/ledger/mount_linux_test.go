//go:build cgo

package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tower/core"
)

func init() {
	children["full disk"] = childFullDisk
	children["read-only"] = childReadOnly
}

// mounted runs a child in a mount namespace of its own, where it may mount what it likes: nothing of
// it is seen outside, and nothing is left when it ends. An ordinary user gets a user namespace too.
func mounted(t *testing.T, name string) {
	t.Helper()
	cmd := child(t, name, t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || strings.Contains(string(out), "cannot mount") {
		t.Skipf("this system allows no mount namespace: %v %s", err, out)
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestFullDisk(t *testing.T)   { mounted(t, "full disk") }
func TestReadOnlyFS(t *testing.T) { mounted(t, "read-only") }

func mount(dir, options string, flags uintptr) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("cannot mount: %w", err)
	}
	if err := syscall.Mount("tower-test", dir, "tmpfs", flags, options); err != nil {
		return fmt.Errorf("cannot mount: %w", err)
	}
	return nil
}

// childFullDisk fills a small disk with writes, looks what is left, makes room and goes on.
func childFullDisk(dir string) error {
	ctx := context.Background()
	if err := mount(dir, "size=3m", 0); err != nil {
		return err
	}
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 1<<20), 0o600); err != nil {
		return err
	}
	path := filepath.Join(dir, "ledger.sqlite")
	d, err := Open(ctx, path, dir)
	if err != nil {
		return err
	}
	kept := 0
	for err == nil {
		if _, err = d.Apply(ctx, batchOf(kept+1)); err == nil {
			kept++
		}
		if kept > 1000 {
			return errors.New("the disk never filled")
		}
	}
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), path) {
		return fmt.Errorf("write on a full disk = %w, want ErrFull and the file's name", err)
	}
	l, err := d.Load(ctx)
	if err != nil || len(l.Sessions) != kept*40 {
		return fmt.Errorf("on a full disk: %d sessions, %v, want %d", len(l.Sessions), err, kept*40)
	}
	if _, err := d.Backup(ctx, dir); !errors.Is(err, ErrFull) {
		return fmt.Errorf("backup on a full disk = %w, want ErrFull", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "ledger-*")); err != nil || len(left) > 0 {
		return fmt.Errorf("the backup left %v, %w", left, err)
	}
	if err := os.Remove(filler); err != nil {
		return err
	}
	if _, err := d.Apply(ctx, batchOf(kept+1)); err != nil {
		return fmt.Errorf("write with room again: %w", err)
	}
	if l, err := d.Load(ctx); err != nil || len(l.Sessions) != (kept+1)*40 {
		return fmt.Errorf("with room again: %d sessions, %v", len(l.Sessions), err)
	}
	return errors.Join(d.Check(ctx), d.Close())
}

// childReadOnly opens a ledger on a file system that became read-only.
func childReadOnly(dir string) error {
	ctx := context.Background()
	if err := mount(dir, "size=4m", 0); err != nil {
		return err
	}
	path := filepath.Join(dir, "ledger.sqlite")
	d, err := Open(ctx, path, dir)
	if err != nil {
		return err
	}
	_, err = d.Apply(ctx, core.Writes{Sessions: testSessions})
	if err := errors.Join(err, d.Close()); err != nil {
		return err
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return err
	}
	if _, err := Open(ctx, path, dir); !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), "its folder cannot be written") {
		return fmt.Errorf("open on a read-only file system = %w, want ErrReadOnly in words of our own", err)
	}
	r, err := OpenReadOnly(ctx, path)
	if err != nil {
		return fmt.Errorf("open for reading: %w", err)
	}
	l, err := r.Load(ctx)
	if err != nil || len(l.Sessions) != len(testSessions) {
		return fmt.Errorf("read %d sessions, %w", len(l.Sessions), err)
	}
	return r.Close()
}
