//go:build tools

package helmtest

import _ "helm.sh/helm/v3/cmd/helm"
