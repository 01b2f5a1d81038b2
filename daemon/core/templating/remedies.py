"""What to write instead of what a template has wrong: for names of functions, for keys, for the syntax."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from syncret.config.spelling import did_you_mean

_COMPARED: Final = 200

_ELSEWHERE: Final = {
    "base64": "b64enc",
    "capitalize": "title",
    "decodeBase64": "b64dec",
    "encodeBase64": "b64enc",
    "fromBase64": "b64dec",
    "jsonDecode": "fromJson",
    "jsonEncode": "toJson",
    "jsondecode": "fromJson",
    "jsonencode": "toJson",
    "parseJSON": "fromJson",
    "parseJson": "fromJson",
    "parseYAML": "fromYaml",
    "parseYaml": "fromYaml",
    "strip": "trim",
    "toBase64": "b64enc",
}
"""What other template languages call a function, where the names are not similar."""

_NOT_HERE: Final = {
    "env": "a template reads no environment: read the value from a store",
    "expandenv": "a template reads no environment: read the value from a store",
    "include": 'call a template with {{ template "name" . }}',
    "key": "a template asks no store: add an entry to spec.data",
    "lookup": "a template asks no cluster: add an entry to spec.data",
    "secret": "a template asks no store: add an entry to spec.data",
    "tpl": 'call a template with {{ template "name" . }}',
    "with_secret": "a template asks no store: add an entry to spec.data",
}

_BY_START: Final = {
    "unclosed action": "close it with }}",
    "unclosed comment": "close it with */}}",
    "unclosed left paren": "close it with )",
    "unexpected EOF": "end each if, range, with, define and block with {{ end }}",
    "unexpected <end>": "there is one {{ end }} too many",
    "unexpected <else>": "it belongs between an if, with or range and its {{ end }}",
    "unterminated quoted string": 'close it with "; text of several lines stands between backquotes',
    "unterminated raw quoted string": "close it with a backquote",
    "unterminated character constant": 'texts stand in double quotes: "text"',
    "bad character U+002D": 'a key with a dash is read with index: {{ index . "my-key" }}',
    "missing value for": "write what is to be printed, such as {{ .key }}",
    "unexpected right paren": "there is one ) too many",
    "non executable command in pipeline": "only functions stand behind a |",
    "bad number syntax": 'a key that begins with a digit is read with index: {{ index . "1key" }}',
}
"""The remedy by the beginning of the message."""

_ANYTHING: Final = "text in double quotes, keys as .key, functions as in {{ .key | b64enc }}"


def with_index(key: str) -> str:
    """How a key is read whose name is no plain word."""
    return f'write {{{{ index . "{key}" }}}}'


def for_function(name: str, known: Iterable[str]) -> str:
    """For a function that does not exist."""
    if name in _NOT_HERE:
        return _NOT_HERE[name]
    other = _ELSEWHERE.get(name)
    return f"did you mean {other}?" if other else _nearest(name, list(known))


def for_variable(name: str, known: Sequence[str]) -> str:
    """For a variable that is not declared."""
    return _nearest(name, [each for each in known if each != "$"]) or f"declare it: {{{{ {name} := ... }}}}"


def for_key(name: str, known: Iterable[str]) -> str:
    """For a key that the data lacks."""
    keys = list(islice(known, _COMPARED))
    dotted = next((key for key in keys if key.startswith(f"{name}.")), "")
    return with_index(dotted) if dotted else did_you_mean(name, keys)


def for_syntax(message: str) -> str:
    """For what the parser says."""
    return next((hint for start, hint in _BY_START.items() if message.startswith(start)), _ANYTHING)


def _nearest(name: str, known: Sequence[str]) -> str:
    """Only a name that is near: there are two hundred functions."""
    hint = did_you_mean(name, known)
    return hint if hint.startswith("did you mean") else ""
