package main

import (
	"encoding/json"
	"io"
	"runtime"
	"text/template"
	"time"

	"github.com/external-secrets/external-secrets/pkg/esutils"
	"golang.org/x/sys/unix"
)

// benchRequest times one thing, Rounds times over: the parsing or the rendering of a template, or a rewrite.
type benchRequest struct {
	What   string `json:"what"`
	Rounds int    `json:"rounds"`
}

// bench answers the processor seconds that one round took.
func bench(raw []byte) (any, error) {
	var request benchRequest
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, failure{"request", err}
	}
	once, err := benched(request.What, raw)
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread() // the time is this thread's: what the collector does beside it is not counted
	defer runtime.UnlockOSThread()
	begin, err := processorSeconds()
	if err != nil {
		return nil, err
	}
	for range request.Rounds {
		if err := once(); err != nil {
			return nil, err
		}
	}
	end, err := processorSeconds()
	return (end - begin) / float64(request.Rounds), err
}

func processorSeconds() (float64, error) {
	var used unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used)
	return time.Duration(used.Nano()).Seconds(), err
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
		base := template.New("").Funcs(functions) // copies the functions, which takes longer than parsing
		return func() error { _, err := base.New("t").Parse(request.Text); return err }, nil
	}
	parsed, err := request.parse()
	if err != nil {
		return nil, failure{"parse", err}
	}
	return func() error { return parsed.Execute(io.Discard, stringData(request.Data)) }, nil
}
