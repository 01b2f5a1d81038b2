// The operator itself, with the flags of its own.
package main

import "github.com/external-secrets/external-secrets/cmd/controller"

func main() {
	controller.Execute()
}
