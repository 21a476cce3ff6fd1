package home

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tower/core"
)

func local(string) string { return "ext4" }

// refused asserts a Refusal that says every one of the words.
func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	var r *core.Refusal
	if !errors.As(err, &r) {
		t.Fatalf("error = %v, want a refusal", err)
	}
	for _, w := range words {
		if !strings.Contains(r.Error(), w) {
			t.Errorf("refusal %q does not name %q", r, w)
		}
	}
	if r.Hint == "" {
		t.Errorf("refusal %q shows no way on", r)
	}
}

func TestSyncedNames(t *testing.T) {
	for _, c := range []struct{ below, folder, service string }{
		{"OneDrive/x", "OneDrive", "OneDrive"},
		{"OneDrive - Acme GmbH/a/b", "OneDrive - Acme GmbH", "OneDrive"},
		{"Dropbox", "Dropbox", "Dropbox"},
		{"Dropbox (Personal)/t", "Dropbox (Personal)", "Dropbox"},
		{"Acme Dropbox/me", "Acme Dropbox", "Dropbox"},
		{"Library/Mobile Documents/com~apple~CloudDocs/t", "com~apple~CloudDocs", "iCloud"},
		{"Library/Mobile Documents/x", "Mobile Documents", "iCloud"},
		{"iCloudDrive/x", "iCloudDrive", "iCloud"},
		{"Google Drive/x", "Google Drive", "Google Drive"},
		{"Library/CloudStorage/GoogleDrive-a@b.example/My Drive", "My Drive", "Google Drive"},
		{"Library/CloudStorage/Box-Box/x", "Box-Box", "a cloud storage provider"},
		{"syncthing/x", "syncthing", "Syncthing"},
	} {
		t.Run(c.below, func(t *testing.T) {
			err := check(filepath.Join(t.TempDir(), c.below, "tower"), local)
			refused(t, err, c.service, c.folder, EnvHome)
		})
	}
	for _, fine := range []string{"tower", "Dropbox-notes/x", "onedriver", "drive/x", "Mobile Documents/x", "sync/x", "mysyncthing"} {
		if err := check(filepath.Join(t.TempDir(), fine), local); err != nil {
			t.Errorf("check(%s) = %v, want no refusal", fine, err)
		}
	}
}

func TestSyncedMarkers(t *testing.T) {
	for _, c := range []struct {
		marker, service string
		dir             bool
	}{
		{".stfolder", "Syncthing", true},
		{".stfolder", "Syncthing", false},
		{".stversions", "Syncthing", true},
		{".dropbox", "Dropbox", false},
		{".dropbox.cache", "Dropbox", true},
		{".tmp.drivedownload", "Google Drive", true},
		{".tmp.driveupload", "Google Drive", true},
		{".849C9593-D756-4E56-8D6E-42412F2A707B", "OneDrive", false},
		{".icloud", "iCloud", true},
	} {
		t.Run(c.marker, func(t *testing.T) {
			top := t.TempDir()
			p := filepath.Join(top, c.marker)
			var err error
			if c.dir {
				err = os.Mkdir(p, 0o700)
			} else {
				err = os.WriteFile(p, nil, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			refused(t, check(filepath.Join(top, "a", "tower"), local), c.service, c.marker, top)
			if entries, _ := os.ReadDir(top); len(entries) != 1 {
				t.Errorf("the check left something behind: %v", entries)
			}
		})
	}
	t.Run("Dropbox's own folder in a home", func(t *testing.T) {
		top := t.TempDir()
		if err := os.Mkdir(filepath.Join(top, ".dropbox"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := check(filepath.Join(top, "tower"), local); err != nil {
			t.Errorf("check = %v, want no refusal", err)
		}
	})
}

func TestSyncedThroughLink(t *testing.T) {
	top := t.TempDir()
	if err := os.MkdirAll(filepath.Join(top, "Dropbox", "t"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(top, "Dropbox", "t"), filepath.Join(top, "plain")); err != nil {
		t.Fatal(err)
	}
	refused(t, check(filepath.Join(top, "plain", "tower"), local), "Dropbox")
}

func TestNetworkFileSystems(t *testing.T) {
	for kernel, said := range map[string]string{
		"nfs": "NFS", "nfs4": "NFS", "cifs": "SMB", "smb3": "SMB", "fuse.sshfs": "SSHFS", "9p": "9P",
		"afs": "AFS", "ceph": "Ceph", "fuse.ceph-fuse": "Ceph", "fuse.glusterfs": "GlusterFS", "fuse.rclone": "rclone",
		"davfs": "WebDAV", "lustre": "lustre", "vboxsf": "vboxsf", "remote": "remote",
	} {
		data := filepath.Join(t.TempDir(), "a", "tower")
		asked := ""
		err := check(data, func(dir string) string { asked = dir; return kernel })
		refused(t, err, said, data, "network file system")
		if _, err := os.Stat(asked); err != nil {
			t.Errorf("%s: asked about %s, which does not exist", kernel, asked)
		}
	}
	for _, fine := range []string{"ext4", "btrfs", "xfs", "zfs", "tmpfs", "overlay", "fuseblk", "fuse.gocryptfs", "fuse.mergerfs", "virtiofs", "apfs", ""} {
		if err := check(t.TempDir(), func(string) string { return fine }); err != nil {
			t.Errorf("check on %s = %v, want no refusal", fine, err)
		}
	}
}

func TestCheckPlaceHere(t *testing.T) {
	h := Home{Data: filepath.Join(t.TempDir(), "x", "tower")}
	if err := CheckPlace(h); err != nil {
		t.Errorf("CheckPlace in a temp folder = %v", err)
	}
	if _, err := os.Stat(filepath.Dir(h.Data)); err == nil {
		t.Error("CheckPlace made a folder")
	}
}

func TestNotWritable(t *testing.T) {
	t.Run("a file in the way", func(t *testing.T) {
		p := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		refused(t, check(filepath.Join(p, "tower"), local), p, "is a file")
	})
}
