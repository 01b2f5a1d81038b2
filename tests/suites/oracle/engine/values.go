package main

import (
	"encoding/json"

	v1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	"github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	"github.com/external-secrets/external-secrets/pkg/esutils"
)

// valuesRequest is what happens to fetched values before they are used.
type valuesRequest struct {
	Operations []v1.ExternalSecretRewrite `json:"operations"`
	Strategy   string                     `json:"strategy"`
	Values     map[string][]byte          `json:"values"`
}

func values(raw []byte) (valuesRequest, error) {
	var request valuesRequest
	if err := json.Unmarshal(raw, &request); err != nil {
		return request, failure{"request", err}
	}
	return request, nil
}

func rewrite(raw []byte) (any, error) {
	request, err := values(raw)
	if err != nil {
		return nil, err
	}
	return esutils.RewriteMap(request.Operations, request.Values)
}

func decode(raw []byte) (any, error) {
	request, err := values(raw)
	if err != nil {
		return nil, err
	}
	return esutils.DecodeMap(v1.ExternalSecretDecodingStrategy(request.Strategy), request.Values)
}

func convert(raw []byte) (any, error) {
	request, err := values(raw)
	if err != nil {
		return nil, err
	}
	if request.Strategy == "" { // since v0.20.4 an omitted strategy is the default one
		request.Strategy = string(v1.ExternalSecretConversionDefault)
	}
	return esutils.ConvertKeys(v1.ExternalSecretConversionStrategy(request.Strategy), request.Values)
}

func reverse(raw []byte) (any, error) {
	request, err := values(raw)
	if err != nil {
		return nil, err
	}
	return esutils.ReverseKeys(v1alpha1.PushSecretConversionStrategy(request.Strategy), request.Values)
}
