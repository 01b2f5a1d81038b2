package main

import (
	"encoding/json"
	"regexp"

	"github.com/tidwall/gjson"
)

// found is what gjson makes of a path.
type found struct {
	Exists bool   `json:"exists"`
	Text   []byte `json:"text"`
}

func path(raw []byte) (any, error) {
	var request struct {
		Document string `json:"document"`
		Path     string `json:"path"`
	}
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, failure{"request", err}
	}
	result := gjson.Get(request.Document, request.Path)
	return found{result.Exists(), []byte(result.String())}, nil
}

func replace(raw []byte) (any, error) {
	var request struct {
		Pattern  string `json:"pattern"`
		Text     []byte `json:"text"`
		Template []byte `json:"template"`
	}
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, failure{"request", err}
	}
	pattern, err := regexp.Compile(request.Pattern)
	if err != nil {
		return nil, failure{"parse", err}
	}
	return pattern.ReplaceAll(request.Text, request.Template), nil
}
