package main

import "reflect"

// signature is what reflection says of a function that templates can call.
type signature struct {
	Parameters []string `json:"parameters"`
	Variadic   string   `json:"variadic"`
}

// signatures lists all functions beside Go's own.
func signatures([]byte) (any, error) {
	made := map[string]signature{}
	for name, function := range functions {
		declared := reflect.TypeOf(function)
		one := signature{Parameters: []string{}}
		for index := range declared.NumIn() {
			parameter := declared.In(index)
			if declared.IsVariadic() && index == declared.NumIn()-1 {
				one.Variadic = parameter.Elem().String()
			} else {
				one.Parameters = append(one.Parameters, parameter.String())
			}
		}
		made[name] = one
	}
	return made, nil
}
