package main

import (
	"encoding/json"
	"io"
	"time"

	"github.com/external-secrets/external-secrets/pkg/esutils"
)

// benchRequest times one thing, Rounds times over: the parsing or the rendering of a template, or a rewrite.
type benchRequest struct {
	What   string `json:"what"`
	Rounds int    `json:"rounds"`
}

// bench answers the seconds that one round took.
func bench(raw []byte) (any, error) {
	var request benchRequest
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, failure{"request", err}
	}
	once, err := benched(request.What, raw)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	for range request.Rounds {
		if err := once(); err != nil {
			return nil, err
		}
	}
	return time.Since(begin).Seconds() / float64(request.Rounds), nil
}

func benched(what string, raw []byte) (func() error, error) {
	if what == "rewrite" {
		request, err := values(raw)
		return func() error {
			_, err := esutils.RewriteMap(request.Operations, request.Values)
			return err
		}, err
	}
	var request renderRequest
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, failure{"request", err}
	}
	if what == "parse" {
		return func() error { _, err := request.parse(); return err }, nil
	}
	dot, err := request.dot()
	if err != nil {
		return nil, failure{"request", err}
	}
	parsed, err := request.parse()
	if err != nil {
		return nil, failure{"parse", err}
	}
	return func() error { return parsed.Execute(io.Discard, dot) }, nil
}
