// Akeyless' own package of proofs: a line of standard output for each cloud-id that it makes in this environment.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/akeylesslabs/akeyless-go-cloud-id/cloudprovider/aws"
	"github.com/akeylesslabs/akeyless-go-cloud-id/cloudprovider/azure"
	"github.com/akeylesslabs/akeyless-go-cloud-id/cloudprovider/gcp"
)

func said(proof string, err error) {
	line := map[string]any{"answer": proof}
	if err != nil {
		line = map[string]any{"error": err.Error()}
	}
	text, err := json.Marshal(line)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	fmt.Println(string(text))
}

func main() {
	said(aws.GetCloudId())
	said(azure.GetCloudId(""))
	said(azure.GetCloudId(os.Getenv("OBJECT_ID")))
	said(gcp.GetCloudID(""))
	said(gcp.GetCloudID("mine.example"))
}
