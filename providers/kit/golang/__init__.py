"""Go's behaviour that providers need: JSON, printing, regular expressions, gjson, sjson, JSONPath."""
