"""Go's text/template: the language, without any function that is not Go's own."""
