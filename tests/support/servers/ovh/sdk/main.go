// OVHcloud's own client for Go, through the life of one secret; a line of standard output for each call.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"github.com/google/uuid"
	"github.com/ovh/okms-sdk-go"
	"github.com/ovh/okms-sdk-go/types"
)

func said(body any, err error) {
	line := map[string]any{"answer": body}
	if err != nil {
		line = map[string]any{"status": okms.ErrStatusCode(err)}
		if known := okms.AsKmsError(err); known != nil {
			line["category"] = known.ErrorCode.Category().String()
			line["code"] = uint32(known.ErrorCode)
		}
	}
	text, err := json.Marshal(line)
	must(err)
	fmt.Println(string(text))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func opened(token string) *okms.Client {
	client, err := okms.NewRestAPIClientWithHttp(os.Getenv("ENDPOINT"), &http.Client{})
	must(err)
	return client.WithCustomHeader("Authorization", "Bearer "+token)
}

func main() {
	ctx, domain, path := context.Background(), uuid.MustParse(os.Getenv("DOMAIN")), "shop/db ä"
	client, yes := opened(os.Getenv("TOKEN")), true
	number := func(each uint32) *uint32 { return &each }
	data := func(value any) *map[string]any { return &map[string]any{"password": value} }
	{
		made, err := client.PostSecretV2(ctx, domain, types.PostSecretV2Request{
			Path: path, Version: types.SecretV2VersionShort{Data: data("first")},
		})
		must(err)
		said([]any{made.Path, made.Metadata.CurrentVersion}, nil)
	}
	for _, current := range []*uint32{number(1), number(1)} {
		changed, err := client.PutSecretV2(ctx, domain, path, current, types.PutSecretV2Request{
			Version: &types.SecretV2VersionShort{Data: data(map[string]int{"port": 5432})},
		})
		if err == nil {
			said(changed.Metadata.CurrentVersion, nil)
		} else {
			said(nil, err)
		}
	}
	for _, version := range []*uint32{nil, number(1), number(9)} {
		found, err := client.GetSecretV2(ctx, domain, path, version, &yes)
		if err == nil {
			said([]any{found.Version.Id, found.Version.State.Valid(), found.Version.Data, found.Metadata.CurrentVersion}, nil)
		} else {
			said(nil, err)
		}
	}
	found, err := client.GetSecretV2(ctx, domain, path, nil, nil)
	must(err)
	said(found.Version.Data, nil)
	_, err = client.GetSecretV2(ctx, domain, "none", nil, &yes)
	said(nil, err)
	every, listed := client.ListAllSecrets(domain, nil), []string{}
	for every.Next(ctx) {
		each, err := every.Value()
		must(err)
		listed = append(listed, *each.Path)
	}
	said(listed, nil)
	below, err := client.GetSecretsMetadata(ctx, domain, "shop", true)
	must(err)
	said(below.Data.Keys, nil)
	said(nil, client.DeleteSecretV2(ctx, domain, path))
	said(nil, client.DeleteSecretV2(ctx, domain, path))
	_, err = opened("wrong").GetSecretV2(ctx, domain, path, nil, &yes)
	said(nil, err)
}
