//go:build tools

package sopstest

import _ "github.com/getsops/sops/v3/cmd/sops"
