// Devolutions' own client for Go, through the life of one entry; a line of standard output for each call.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/Devolutions/go-dvls"
)

func said(body any, err error) {
	line := map[string]any{"answer": body}
	var refused *dvls.RequestError
	if errors.As(err, &refused) {
		line = map[string]any{"status": refused.StatusCode}
	} else if err != nil {
		line = map[string]any{"error": err.Error()}
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

func opened(secret string) (dvls.Client, error) {
	return dvls.NewClient(os.Getenv("APP_KEY"), secret, os.Getenv("ENDPOINT"))
}

func main() {
	text, secret := func(each string) *string { return &each }, os.Getenv("APP_SECRET")
	client, err := opened(secret)
	must(err)
	vault, err := client.Vaults.GetByName("Shop")
	must(err)
	said(vault.Id, nil)
	_, err = client.Vaults.GetByName("None")
	said(nil, err)
	_, err = opened(secret) // a second login ends the first one, which the client finds out and logs in again
	must(err)

	credentials := client.Entries.Credential
	id, err := credentials.New(dvls.Entry{
		VaultId: vault.Id, Name: "db", Path: `shop\prod`, Type: "Credential", SubType: "Default", Tags: []string{"a"},
		Data: &dvls.EntryCredentialDefaultData{Username: "ada", Password: "first"},
	})
	must(err)
	found, err := credentials.GetByName(vault.Id, "db", "Default", dvls.GetByNameOptions{Path: text(`shop\prod`)})
	must(err)
	held, err := found.ToCredentialMap()
	said([]any{found.Id == id, held, found.Path, found.Tags}, err)
	must(found.SetCredentialSecret("second"))
	changed, err := credentials.Update(found)
	must(err)
	held, err = changed.ToCredentialMap()
	said(held, err)
	for _, path := range []*string{nil, text("shop"), text(`sho`)} {
		listed, err := credentials.GetEntries(vault.Id, dvls.GetEntriesOptions{Path: path})
		must(err)
		places := []string{}
		for _, each := range listed {
			places = append(places, each.Path+`\`+each.Name)
		}
		said(places, nil)
	}
	key, err := credentials.GetByName(vault.Id, "mail", "ApiKey", dvls.GetByNameOptions{})
	must(err)
	held, err = key.ToCredentialMap()
	said(held, err)
	said(nil, credentials.DeleteById(vault.Id, id))
	_, err = credentials.GetById(vault.Id, id)
	said(nil, err)
	_, err = credentials.GetByName(vault.Id, "db", "Default", dvls.GetByNameOptions{Path: text(`shop\prod`)})
	said(nil, err)
	_, err = opened("wrong")
	said(nil, err)
}
