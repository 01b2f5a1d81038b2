"""Go's text/template: the language and its predefined functions."""
