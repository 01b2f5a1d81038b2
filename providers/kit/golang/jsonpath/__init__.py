"""JSONPath as webhook stores have it: the dialect of the Go library PaesslerAG/jsonpath.

    $.a.b  $["a b"]  $.list[0]  $.list[1:3]  $..name  $.list[*].id  $.list[?(@.name == "x")].value

A path with several possible results (`..`, `*`, a list of keys, a range, a filter) yields a list, and a step
that fails matches nothing. Any other path yields one value, and a step that fails is an error.
"""

from syncret.providers.kit.golang.jsonpath.parse import Path, parse

__all__ = ["Path", "parse"]
