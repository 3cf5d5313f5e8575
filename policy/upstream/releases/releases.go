// Package releases lists the releases of Kubernetes whose code runs next to ours.
package releases

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Release is one release of Kubernetes.
type Release struct {
	Minor   int    // 36
	Version string // v1.36.3, a version of the module k8s.io/kubernetes
}

// All returns the releases, oldest first: the patch release of each minor version that the module
// proxy serves and that the specifications of this project were read from.
func All() []Release {
	return []Release{{33, "v1.33.5"}, {34, "v1.34.1"}, {35, "v1.35.4"}, {36, "v1.36.3"}, {37, "v1.37.1"}}
}

// Name returns the minor version as people write it: 1.36.
func (r Release) Name() string { return "1." + strconv.Itoa(r.Minor) }

// Folder returns the name of the release's module folder in policy/upstream.
func (r Release) Folder() string { return "v" + r.Name() }

// StagingVersion returns the version under which the release's staging modules are published:
// v0.36.3 for v1.36.3.
func (r Release) StagingVersion() string { return "v0" + strings.TrimPrefix(r.Version, "v1") }

// Root returns the folder of the main module, found from the working folder upwards.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "policy", "upstream", "releases")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("not inside the repository: no parent folder holds policy/upstream/releases")
		}
		dir = parent
	}
}
