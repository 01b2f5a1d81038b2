// Oracle answers what the External Secrets operator's own packages make of a template, a rewrite or a value:
// one JSON request per line on stdin, one JSON answer per line on stdout.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
)

// failure is an answer that says no: which step refused, and in what words.
type failure struct {
	class string
	err   error
}

func (f failure) Error() string { return f.err.Error() }

// answer is one line of output. Class is empty where everything went well.
type answer struct {
	Result any    `json:"result,omitempty"`
	Class  string `json:"class,omitempty"`
	Error  string `json:"error,omitempty"`
}

type operation func(request []byte) (any, error)

var operations = map[string]operation{
	"render":     render,
	"rewrite":    rewrite,
	"decode":     decode,
	"convert":    convert,
	"reverse":    reverse,
	"path":       path,
	"replace":    replace,
	"bench":      bench,
	"signatures": signatures,
}

func reply(request []byte) (given answer) {
	defer func() {
		if cause := recover(); cause != nil {
			given = answer{Class: "panic", Error: fmt.Sprint(cause)}
		}
	}()
	var which struct {
		Op string `json:"op"`
	}
	if err := json.Unmarshal(request, &which); err != nil {
		return answer{Class: "request", Error: err.Error()}
	}
	run, known := operations[which.Op]
	if !known {
		return answer{Class: "request", Error: "no such operation: " + which.Op}
	}
	result, err := run(request)
	if err == nil {
		return answer{Result: result}
	}
	class := "failed"
	if refused := (failure{}); errors.As(err, &refused) {
		class = refused.class
	}
	return answer{Class: class, Error: err.Error()}
}

func main() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			return
		}
		if err := encoder.Encode(reply(line)); err != nil {
			log.Fatal(err)
		}
		if err := out.Flush(); err != nil {
			log.Fatal(err)
		}
	}
}
