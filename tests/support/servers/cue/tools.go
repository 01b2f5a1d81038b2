//go:build tools

package cuetest

import _ "cuelang.org/go/cmd/cue"
