package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"text/template"

	engine "github.com/external-secrets/external-secrets/pkg/template/v2"
)

// renderRequest is a template and its dot: either strings, as the operator gives them, or any JSON.
type renderRequest struct {
	Text       string            `json:"text"`
	Data       map[string][]byte `json:"data"`
	Dot        json.RawMessage   `json:"dot"`
	Left       string            `json:"left"`
	Right      string            `json:"right"`
	MissingKey string            `json:"missingKey"`
	Plain      bool              `json:"plain"` // Go's own functions only
}

func (r renderRequest) parse() (*template.Template, error) {
	made := template.New("t").Delims(r.Left, r.Right).Option("missingkey=" + r.missingKey())
	if !r.Plain {
		made = made.Funcs(functions)
	}
	return made.Parse(r.Text)
}

func (r renderRequest) missingKey() string {
	if r.MissingKey == "" {
		return "error"
	}
	return r.MissingKey
}

func (r renderRequest) dot() (any, error) {
	if r.Dot == nil {
		return stringData(r.Data), nil
	}
	decoder := json.NewDecoder(bytes.NewReader(r.Dot))
	decoder.UseNumber()
	var dot any
	if err := decoder.Decode(&dot); err != nil {
		return nil, err
	}
	return withNumbers(dot), nil
}

// stringData is what the operator makes of a Secret's data before it renders.
func stringData(data map[string][]byte) map[string]string {
	made := make(map[string]string, len(data))
	for key, value := range data {
		made[key] = string(value)
	}
	return made
}

// withNumbers makes an int of each number that is spelt like one, and a float64 of any other.
func withNumbers(value any) any {
	switch held := value.(type) {
	case json.Number:
		if strings.ContainsAny(held.String(), ".eE") {
			number, _ := held.Float64()
			return number
		}
		number, _ := held.Int64()
		return int(number)
	case []any:
		for index := range held {
			held[index] = withNumbers(held[index])
		}
	case map[string]any:
		for key := range held {
			held[key] = withNumbers(held[key])
		}
	}
	return value
}

var functions = laterFunctions(engine.FuncMap())

func render(raw []byte) (any, error) {
	var request renderRequest
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, failure{"request", err}
	}
	dot, err := request.dot()
	if err != nil {
		return nil, failure{"request", err}
	}
	parsed, err := request.parse()
	if err != nil {
		return nil, failure{"parse", err}
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, dot); err != nil {
		return nil, failure{"execute", err}
	}
	return out.Bytes(), nil
}
