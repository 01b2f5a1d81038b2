"""Expressions over large values: what each costs must be paid for, or a few make a daemon slow, or large."""

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from random import Random
from typing import Final

from syncret.daemon.core import conversion
from syncret.daemon.core.templating import operator
from syncret.daemon.core.templating.functions.contract import Context
from syncret.providers.errors import SyncError
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.golang.gjson.walk import find
from syncret.providers.webhook import results
from syncret.providers.work import Work
from tests.suites.fuzz import grammar

SIZE: Final = 1_000_000

_BITS: Final[Mapping[str, str]] = {
    "letters": "a",
    "quotes": '"',
    "backslashes": "\\",
    "lines": "\n",
    "words": "Ab ",
    "zeros": "\0",
    "wide": "\U0001f469\u200d",
    "marks": "\u0301",
    "brackets": "[",
    "lists": "[],",
    "commas": ",",
    "pairs": "k: v\n",
    "digits": "9",
    "versions": ">1 || ",
    "dots": "1.",
    "equals": "=",
    "percent": "%d",
    "dollar": "$1",
    "base64": "QUFB",
}

_CALLS: Final = (
    "trunc 10",
    "quote",
    "squote",
    "toJson",
    "fromJson",
    "toYaml",
    "fromYaml",
    "b64enc",
    "b64dec",
    "upper",
    "title",
    'replace "a" "bb"',
    'splitList ","',
    'split ","',
    'join ","',
    "list",
    "len",
    "indent 4",
    "nindent 4",
    "repeat 2",
    'regexReplaceAll "." "x"',
    'regexFindAll "." -1',
    'regexSplit "a" -1',
    'regexMatch "(a|b)*c"',
    "wrap 1",
    "camelcase",
    "snakecase",
    "kebabcase",
    "swapcase",
    "initials",
    "nospace",
    "abbrev 50",
    "sha256sum",
    "b32enc",
    "semver",
    'semverCompare "1.0.0"',
    "urlParse",
    'printf "%q"',
    'printf "%x"',
    'printf "%v"',
    "toString",
    "atoi",
    "float64",
    "int64",
    'date "2006"',
    'trimAll "a"',
    'contains "b"',
    'cat "a"',
    "substr 0 9",
    "reverse",
    "uniq",
    "sortAlpha",
    "toPrettyJson",
    "html",
    "js",
    "urlquery",
    "mustFromJson",
    "shuffle",
    "untitle",
    'wrapWith 2 "xx"',
    "jwkPublicKeyPem",
    "pkcs12key",
    "pemToPkcs12",
    'filterPEM "CERTIFICATE"',
    "toDecimal",
    "duration",
    "adler32sum",
    "lower",
    "trim",
    'trimSuffix "a"',
    'trimPrefix "a"',
    'hasSuffix "a"',
    'trimAll "Ab "',
    "b32dec",
    "hexdec",
    "regexQuoteMeta",
    'regexReplaceAllLiteral "." "x"',
    'regexFind "a+$"',
    'splitn "," 9',
    "toStrings",
    "toRawJson",
    "println",
    'printf "%+q"',
    'printf "%#v"',
    'printf "%#q"',
    'printf "%d"',
    'printf "%5.2s"',
    "compact",
    "chunk 2",
    'without "a"',
    'has "a"',
    "deepCopy",
    'dict "k"',
    "keys",
    "values",
    "first",
    "last",
    "rest",
    "initial",
    'append "a"',
    "base",
    "clean",
    "dir",
    "ext",
    "osClean",
    "sha1sum",
    "sha512sum",
    'toDate "2006-01-02"',
    "durationRound",
    "ago",
    'dateModify "1h"',
    "int",
    "add 1",
    "addf 1",
    "max 1",
    "ceil",
    "round 1",
    'derivePassword 1 "long" "p" "u"',
    'encryptAES "k"',
    'decryptAES "k"',
    'rsaDecrypt "k"',
    "certSANs",
    'filterCertChain "leaf"',
    "fullPemToPkcs12",
    "pemTruststoreToPKCS12",
    "jwkPrivateKeyPem",
    "pkcs12cert",
    "genPrivateKey",
    "kindOf",
    "typeOf",
    "empty",
    'eq "a"',
    'lt "a"',
    'index "a"',
    "slice 1",
    'plural "a" "b"',
    "randAlpha",
    "tuple",
    'regexFindAll "a*" 9',
    'regexReplaceAll "(a|b)" "${1}${1}"',
    'replace "" "x"',
    "wrap 40",
    'wrapWith 40 "\n"',
    "indent 1",
    "abbrevboth 5 50",
    'semverCompare ">1"',
)

_MODIFIERS: Final = (
    "@reverse",
    "@ugly",
    "@pretty",
    "@this",
    "@valid",
    "@flatten",
    "@join",
    "@keys",
    "@values",
    "@tostr",
    "@fromstr",
    "@group",
    "@dig:a",
    "#",
    "#.a",
    "*",
    "..#",
    "..0",
    '#(a=="v")#',
    '#(%"*a*a*b")',
    "[@this,@this]",
    "{a:@this}",
)

_JSONPATHS: Final = (
    "$",
    "$..a",
    "$[*]",
    "$[0:9]",
    "$..*",
    "$[?(@.a == 'v')]",
    "$[?(@ == $)]",
    "$[*][*]",
    "$[-1:]",
    "$[0,0,0]",
)

Give = Callable[[str, str], object]


@cache
def _text(name: str) -> str:
    bit = _BITS[name]
    return bit * (SIZE // len(bit))


@cache
def _document(name: str) -> str:
    """The text in several places of JSON documents; or as it is."""
    half = _text(name)[: SIZE // 4]
    return json.dumps(
        {
            "a": half,
            "l": [{"a": "v", "n": n, half[:3] + str(n): half[:9]} for n in range(8000)],
            half[:20_000]: 1,
        }
    )


def make(chance: Random) -> list[str]:
    """What is done, an expression, and the name of a large value."""
    kind = chance.choice(
        ("template", "template", "template", "gjson", "jsonpath", "regexp", "decode", "extract")
    )
    match kind:
        case "template":
            text = "{{ .k | " + " | ".join(chance.choices(_CALLS, k=chance.randint(1, 4))) + " }}"
        case "gjson":
            text = "|".join(chance.choices(_MODIFIERS, k=chance.randint(1, 6)))
        case "jsonpath":
            text = chance.choice(_JSONPATHS) + grammar.jsonpath(chance)[1:] * chance.randrange(2)
        case "regexp":
            text = grammar.regexp(chance)
        case _:
            text = chance.choice(("Auto", "Base64", "Base64URL"))
    return [kind, text, chance.choice(sorted(_BITS))]


def give(case: list[str]) -> None:
    """Do it; within the limits of one sync it is done, or refused."""
    kind, text, name = case
    with suppress(SyncError):
        _GIVE[kind](text, name)


def _template(text: str, name: str) -> object:
    data = {"k": _text(name).encode()}
    return operator.render("t", text, data, Context(datetime.now(UTC), os.urandom), Work())


def _extract(_text: str, name: str) -> object:
    return gojson.to_secret_map(_document(name), Work())


def _replaced(text: str, name: str) -> object:
    work = Work()
    return regexp.compile(text, work).replace_all(_text(name), "${0}${0}", work)


_GIVE: Final[Mapping[str, Give]] = {
    "template": _template,
    "gjson": lambda text, name: find(_document(name), text, Work()),
    "jsonpath": lambda text, name: results.one(_document(name).encode(), text, Work()),
    "regexp": _replaced,
    "decode": lambda text, name: conversion.decode(text, _text(name).encode(), Work()),
    "extract": _extract,
}
