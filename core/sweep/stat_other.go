//go:build !linux && !darwin

package sweep

import (
	"os"

	"tower/core"
)

func fingerprint(info os.FileInfo) core.Fingerprint {
	return core.Fingerprint{Size: info.Size(), MTime: info.ModTime().UnixNano()}
}
