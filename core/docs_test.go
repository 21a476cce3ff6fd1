package core_test

import (
	"strings"
	"testing"
)

// TestDocs asks of every package for a comment that is a promise, not a label.
func TestDocs(t *testing.T) {
	for dir, files := range packages(t) {
		doc := ""
		tests := true
		for name, f := range files {
			if !strings.HasSuffix(name, "_test.go") {
				tests = false
				if f.Doc != nil {
					doc += f.Doc.Text()
				}
			}
		}
		if !tests && len(doc) < 120 {
			t.Errorf("package %s: its comment has %d characters; say what it promises, who may use it and what it never does", dir, len(doc))
		}
	}
}
