// Alibaba Cloud's own client for Go, through the life of one secret; a line of standard output for each call.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	openapi "github.com/alibabacloud-go/darabonba-openapi/v2/utils"
	kms "github.com/alibabacloud-go/kms-20160120/v3/client"
	"github.com/alibabacloud-go/tea/dara"
	"github.com/alibabacloud-go/tea/tea"
)

func said(body any, err error) {
	line := map[string]any{"answer": body}
	if err != nil {
		line = map[string]any{"error": err.Error()}
		var known *tea.SDKError
		if errors.As(err, &known) {
			line = map[string]any{"error": tea.StringValue(known.Code)}
		}
	}
	text, err := json.Marshal(line)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	fmt.Println(string(text))
}

func main() {
	text := dara.String
	client, err := kms.NewClient(&openapi.Config{
		AccessKeyId:     text(os.Getenv("KEY_ID")),
		AccessKeySecret: text(os.Getenv("KEY_SECRET")),
		RegionId:        text("cn-hangzhou"),
		Endpoint:        text(os.Getenv("ENDPOINT")),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	name := text("shop/db+ä")
	{
		_, err := client.CreateSecret(&kms.CreateSecretRequest{
			SecretName: name, SecretData: text("first & *~"), VersionId: text("v1"), DKMSInstanceId: text("kst-1"),
		})
		said(nil, err)
	}
	{
		_, err := client.PutSecretValue(&kms.PutSecretValueRequest{
			SecretName: name, SecretData: text("second"), VersionId: text("v2"),
		})
		said(nil, err)
	}
	for _, version := range []*string{nil, text("v1"), text("v9")} {
		found, err := client.GetSecretValue(&kms.GetSecretValueRequest{SecretName: name, VersionId: version})
		if err != nil {
			said(nil, err)
		} else {
			said(tea.StringValue(found.Body.SecretData), nil)
		}
	}
	for _, page := range []int32{1, 2} {
		found, err := client.ListSecrets(&kms.ListSecretsRequest{
			PageNumber: dara.Int32(page), PageSize: dara.Int32(2), FetchTags: text("true"),
		})
		names := []string{}
		if err == nil {
			for _, each := range found.Body.SecretList.Secret {
				names = append(names, tea.StringValue(each.SecretName)+fmt.Sprint(len(each.Tags.Tag)))
			}
		}
		said(names, err)
	}
	{
		_, err := client.DeleteSecret(&kms.DeleteSecretRequest{SecretName: name, RecoveryWindowInDays: text("7")})
		said(nil, err)
	}
	{
		found, err := client.DescribeSecret(&kms.DescribeSecretRequest{SecretName: name})
		if err != nil {
			said(nil, err)
		} else {
			said(tea.StringValue(found.Body.PlannedDeleteTime), nil)
		}
	}
}
