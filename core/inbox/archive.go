package inbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const dayFolder = "2006-01-02"

// staleTmp is the age after which a half-written file can have no writer any more.
const staleTmp = 24 * time.Hour

// Archive moves an applied file into the folder of today (UTC). A file that is gone is no error: it
// was applied, which is all that counts.
func (b *Box) Archive(it Item) error {
	dir := filepath.Join(b.processed, b.now().UTC().Format(dayFolder))
	err := move(filepath.Join(b.inbox, it.Name), dir, it.Name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("archive event: %w", err)
	}
	return nil
}

// Quarantine moves a bad file away, under a free name, and returns the line for the log.
func (b *Box) Quarantine(bad Bad) (line string, err error) {
	name := bad.Name
	for n := 2; ; n++ {
		if _, err := os.Lstat(filepath.Join(b.bad, name)); err != nil {
			break
		}
		name = bad.Name + "." + strconv.Itoa(n)
	}
	err = move(filepath.Join(b.inbox, bad.Name), b.bad, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("quarantine event: %w", err)
	}
	delete(b.failed, bad.Name)
	return fmt.Sprintf("event file %q moved to %s: %s", bad.Name, filepath.Join(b.bad, name), bad.Reason), nil
}

// CountBad returns how many files wait in the folder of bad ones.
func (b *Box) CountBad() int {
	entries, err := os.ReadDir(b.bad)
	if err != nil {
		return 0
	}
	return len(entries)
}

// Prune removes archived files older than so many days, one by one and only those named by Write,
// the dated folders that become empty by it, and what killed writers left in the inbox. It returns
// how many files it removed; files it could not remove are in the error and stop nothing.
func (b *Box) Prune(now time.Time, days int) (int, error) {
	removed, errs := 0, []error(nil)
	remove := func(path string) {
		if err := os.Remove(path); err == nil {
			removed++
		} else if !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	oldest := now.UTC().AddDate(0, 0, -days).Format(dayFolder)
	for _, folder := range list(b.processed, &errs) {
		if _, err := time.Parse(dayFolder, folder.Name()); err != nil || !folder.IsDir() || folder.Name() >= oldest {
			continue
		}
		dir := filepath.Join(b.processed, folder.Name())
		for _, f := range list(dir, &errs) {
			if stem, ok := strings.CutSuffix(f.Name(), suffix); ok && ours(stem) && !f.IsDir() {
				remove(filepath.Join(dir, f.Name()))
			}
		}
		os.Remove(dir) // fails, as it should, while somebody else's file is in it
	}
	for _, f := range list(b.inbox, &errs) {
		stem, ok := strings.CutSuffix(f.Name(), tmpSuffix)
		if !ok || !ours(stem) || f.IsDir() {
			continue
		}
		if info, err := f.Info(); err == nil && now.Sub(info.ModTime()) > staleTmp {
			remove(filepath.Join(b.inbox, f.Name()))
		}
	}
	if len(errs) > 0 {
		return removed, fmt.Errorf("prune inbox: %w", errors.Join(errs...))
	}
	return removed, nil
}

func list(dir string, errs *[]error) []fs.DirEntry {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		*errs = append(*errs, err)
	}
	return entries
}

func move(from, dir, name string) error {
	to := filepath.Join(dir, name)
	err := os.Rename(from, to)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Rename(from, to)
}
