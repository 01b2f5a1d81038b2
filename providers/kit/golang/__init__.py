"""What providers need of Go's behaviour: JSON, printing, regular expressions, gjson, sjson, JSONPath."""
