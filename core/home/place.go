package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"tower/core"
)

// CheckPlace returns a *core.Refusal when the data folder lies where a database with a write-ahead
// log is not safe: in a folder that a service copies to other machines (the copy is taken between
// two writes, and comes back over a newer file), or on a network file system (its locks and shared
// memory do not hold). It also refuses a folder it may not write in. It looks at the folder as it is
// spelled and as its links lead, at every folder above it, and writes nothing at all.
func CheckPlace(h Home) error {
	return check(h.Data, fileSystem)
}

// check is CheckPlace with the question "which file system holds this existing folder" handed in.
func check(data string, fsOf func(dir string) string) error {
	spelled := filepath.Clean(data)
	real := canonical(runtime.GOOS, spelled)
	for _, dir := range unique(spelled, real) {
		if err := checkSynced(data, dir); err != nil {
			return err
		}
	}
	there := nearest(real)
	if name := networkName(fsOf(there)); name != "" {
		return &core.Refusal{
			What: "Not started.",
			Why:  fmt.Sprintf("The data folder %s lies on a network file system (%s), where the ledger's locks do not hold.", data, name),
			Hint: "Set " + EnvHome + " to a folder on a disk of this machine.",
		}
	}
	return checkWritable(data, there)
}

func checkSynced(data, dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		service, marker := syncedName(at), ""
		if service == "" {
			service, marker = syncedMarker(at)
		}
		if service != "" {
			why := fmt.Sprintf("The data folder %s lies in %s, a folder that %s keeps in step with other machines", data, at, service)
			if marker != "" {
				why += " (it holds " + marker + ")"
			}
			return &core.Refusal{
				What: "Not started.",
				Why:  why + ": a copy taken between two writes would destroy the ledger.",
				Hint: "Set " + EnvHome + " to a folder outside it.",
			}
		}
		if filepath.Dir(at) == at {
			return nil
		}
	}
}

func checkWritable(data, there string) error {
	info, err := os.Stat(there)
	if err == nil && !info.IsDir() {
		return &core.Refusal{
			What: "Not started.",
			Why:  fmt.Sprintf("The data folder %s cannot be made: %s is a file.", data, there),
			Hint: "Move that file away, or set " + EnvHome + " to another folder.",
		}
	}
	if err == nil {
		err = writable(there)
	}
	if err == nil {
		return nil
	}
	why := fmt.Sprintf("The data folder %s cannot be written: %s.", data, describe(err))
	if there != filepath.Clean(data) {
		why = fmt.Sprintf("The data folder %s cannot be made: %s is not writable: %s.", data, there, describe(err))
	}
	return &core.Refusal{
		What: "Not started.",
		Why:  why,
		Hint: "Make it writable for this user, or set " + EnvHome + " to another folder.",
	}
}

func describe(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.Is(err, syscall.EROFS):
		return "the file system is read-only"
	}
	return err.Error()
}

// nearest returns the folder itself, or the nearest above it that exists.
func nearest(dir string) string {
	for {
		_, err := os.Stat(dir)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return dir
		}
		dir = up
	}
}

func unique(a, b string) []string {
	if a == b {
		return []string{a}
	}
	return []string{a, b}
}

// syncedName knows the folders that the services make by their names.
func syncedName(dir string) string {
	name := strings.ToLower(filepath.Base(dir))
	parent := strings.ToLower(filepath.Base(filepath.Dir(dir)))
	switch {
	case name == "onedrive", strings.HasPrefix(name, "onedrive - "), strings.HasPrefix(name, "onedrive-"):
		return "OneDrive"
	case name == "dropbox", strings.HasPrefix(name, "dropbox ("), strings.HasSuffix(name, " dropbox"):
		return "Dropbox"
	case name == "icloud drive", name == "iclouddrive", name == "com~apple~clouddocs",
		name == "mobile documents" && parent == "library":
		return "iCloud"
	case name == "google drive", name == "googledrive", strings.HasPrefix(name, "googledrive-"), name == "my drive":
		return "Google Drive"
	case name == "syncthing":
		return "Syncthing"
	case parent == "cloudstorage" && strings.ToLower(filepath.Base(filepath.Dir(filepath.Dir(dir)))) == "library":
		return "a cloud storage provider"
	}
	return ""
}

type mark struct {
	name    string
	service string
	file    bool // counts only as a file: a folder of that name means something else
}

var marks = []mark{
	{name: ".stfolder", service: "Syncthing"},
	{name: ".stversions", service: "Syncthing"},
	// The Dropbox program keeps a folder of this name in every home; in a synced folder it is a file.
	{name: ".dropbox", service: "Dropbox", file: true},
	{name: ".dropbox.cache", service: "Dropbox"},
	{name: ".tmp.drivedownload", service: "Google Drive"},
	{name: ".tmp.driveupload", service: "Google Drive"},
	{name: ".849C9593-D756-4E56-8D6E-42412F2A707B", service: "OneDrive"},
	{name: ".icloud", service: "iCloud"},
}

// syncedMarker knows them by what they lay into the top of a synced folder, whatever its name.
func syncedMarker(dir string) (service, marker string) {
	for _, m := range marks {
		info, err := os.Lstat(filepath.Join(dir, m.name))
		if err == nil && (!m.file || info.Mode().IsRegular()) {
			return m.service, m.name
		}
	}
	return "", ""
}

// networkName returns how to call a file system whose files live on another machine, or in the host
// of a virtual one, and "" for a local one. The name is the kernel's, with "fuse." before that of a
// program. An unknown FUSE program counts as local: most of them encrypt or merge local folders.
//
// 9p is among them: it is how WSL shows the drives of Windows and how virtual machines show folders
// of their host, and memory mapped from it is not shared.
func networkName(fsType string) string {
	name := strings.TrimPrefix(fsType, "fuse.")
	switch name {
	case "nfs", "nfs4":
		return "NFS"
	case "cifs", "smb2", "smb3", "smbfs", "smb":
		return "SMB"
	case "sshfs":
		return "SSHFS"
	case "9p":
		return "9P"
	case "afs", "kafs", "openafs":
		return "AFS"
	case "ceph", "ceph-fuse":
		return "Ceph"
	case "glusterfs":
		return "GlusterFS"
	case "davfs", "davfs2", "webdav", "webdavfs":
		return "WebDAV"
	case "afpfs":
		return "AFP"
	case "vboxsf", "vmhgfs", "vmhgfs-fuse", "prl_fs":
		return name + ", a folder of the host"
	case "lustre", "gpfs", "beegfs", "orangefs", "pvfs2", "gfs2", "ocfs2", "coda", "ncp", "ncpfs",
		"rclone", "s3fs", "gcsfuse", "goofys", "juicefs", "curlftpfs", "mount-s3", "gvfsd-fuse",
		"google-drive-ocamlfuse", "onedriver", "dbxfs", "jmtpfs", "remote", "drvfs":
		return name
	}
	return ""
}
