"""What each function is given where its type alone says too little: a layout, a version, a small number."""

from collections.abc import Callable, Mapping
from random import Random
from typing import TYPE_CHECKING, Final, TypeAlias

from tests.suites.oracle.cases import material, words
from tests.suites.oracle.cases.words import joined, spelt

if TYPE_CHECKING:
    from tests.suites.oracle.cases.calls import Calls

Pool: TypeAlias = "Callable[[Calls, Random], str]"
"""Makes one argument. A function's last pool serves all further arguments too."""


def _one_of(*texts: str) -> Pool:
    return lambda _calls, chance: spelt(chance.choice(texts))


def _raw(*arguments: str) -> Pool:
    return lambda _calls, chance: chance.choice(arguments)


def _held(*names: str) -> Pool:
    return lambda _calls, chance: f".{chance.choice(names)}"


def _text(calls: "Calls", _chance: Random) -> str:
    return calls.text()


def _anything(calls: "Calls", _chance: Random) -> str:
    return calls.anything()


def _items(calls: "Calls", _chance: Random) -> str:
    return calls.items()


def _members(calls: "Calls", _chance: Random) -> str:
    return calls.members()


def _moment(calls: "Calls", _chance: Random) -> str:
    return calls.moment()


def _number(calls: "Calls", chance: Random) -> str:
    """Of any numeric type, or a text that may be one."""
    return chance.choice((calls.integer, calls.integer, calls.floating, calls.text, calls.anything))()


def _version_condition(_calls: "Calls", chance: Random) -> str:
    def one() -> str:
        if not chance.randrange(10):
            return " - ".join(chance.choices(words.VERSIONS[:8], k=2))
        operator = chance.choice(("", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^"))
        return (
            operator
            + chance.choice(("", " "))
            + chance.choice((*words.VERSIONS, "*", "1.x", "1.2.x", "~1.2.3"))
        )

    either = [
        chance.choice((", ", " ", ",")).join(one() for _ in range(chance.choice((1, 1, 2)))) for _ in "ab"
    ]
    return spelt(chance.choice((" || ", "||")).join(either[: chance.choice((1, 1, 2))]))


def _url(_calls: "Calls", chance: Random) -> str:
    start = chance.choice(("", "http://", "https://user@"))
    return spelt(start + joined(chance, words.URL_PARTS, 1, 7))


def _url_parts(_calls: "Calls", chance: Random) -> str:
    made = [
        f"{spelt(name)} {spelt(joined(chance, words.URL_PARTS, 0, 2))}"
        for name in ("scheme", "host", "path", "query", "opaque", "fragment", "userinfo")
        if chance.getrandbits(1)
    ]
    return f"(dict {' '.join(made)})"


def _pattern(_calls: "Calls", chance: Random) -> str:
    return spelt(joined(chance, words.PATTERNS, 1, 3))


def _subject(_calls: "Calls", chance: Random) -> str:
    parts = ("", "abc", "aabbab", "a1b22", "éaé日", "foo bar", "x.y", "AbA", "\n a\nb", "aaa", "\udcffa")
    return spelt(joined(chance, parts, 1, 2))


def _yaml(_calls: "Calls", chance: Random) -> str:
    names = (
        "a",
        "b",
        "y",
        "no",
        "1",
        "1.5",
        "0x10",
        "~",
        "'q'",
        "on",
        "1.10",
        "true",
        "<<",
        "a b",
        "2020-01-01",
    )
    lines = [
        f"{chance.choice(names)}: {chance.choice(words.YAML_WORDS)}" for _ in range(chance.randint(1, 4))
    ]
    return spelt("\n".join(lines) + chance.choice(("", "\n", "\n---\nz: 1\n")))


def _timestamp(calls: "Calls", chance: Random) -> str:
    seconds = chance.choice((chance.randrange(-(10**10), 10**10), chance.randrange(2 * 10**9), 253402300800))
    return chance.choice((str(seconds), f"(int64 {seconds})", calls.moment()))


def _base64(_calls: "Calls", chance: Random) -> str:
    return spelt(chance.choice(("YQ==", "YQ=", "eHh4", "====", "Y\nQ==", "aGk_", "!", "")))


small: Final = _raw(*words.SMALL)
"""For numbers that say how much is made: other numbers would make gigabytes."""

_layout = _one_of(*words.LAYOUTS)
_path = _one_of("/a/b/../c", "a/b.txt", "..", "//x//", "", "/", "a/./b/", ".x", "é/ü.tar.gz", "./")
_password = _one_of("geheim", "geheim", "", "", "falsch")
_pem = _held(*material.NAMES)
_key_name = _one_of("a", "b", "c", "x", "")
_list_then_anything: Final = (_items, _anything)
_regex: Final = (_pattern, _subject)
_replacing: Final = (_pattern, _subject, _one_of(*words.EXPANSIONS))
_counted_regex: Final = (_pattern, _subject, _raw("-1", "0", "1", "2", "3"))
_zoned: Final = (_layout, _timestamp, _one_of(*words.ZONES))
_shifted: Final = (_one_of(*words.DURATIONS), _moment)
_numbers: Final = (_number,)

POOLS: Final[Mapping[str, tuple[Pool, ...]]] = {
    **dict.fromkeys(("abbrev", "indent", "nindent", "trunc", "repeat", "wrap"), (small, _text)),
    **dict.fromkeys(("abbrevboth", "substr"), (small, small, _text)),
    **dict.fromkeys(("until", "untilStep", "seq", "randInt", "randBytes"), (small,)),
    **dict.fromkeys(("randAlpha", "randAlphaNum", "randAscii", "randNumeric"), (small,)),
    "wrapWith": (small, _text, _text),
    "splitn": (_one_of(",", " ", "a", ""), small, _text),
    **dict.fromkeys(("split", "splitList"), (_one_of(",", " ", "a", "", "é"), _text)),
    "plural": (_text, _text, small),
    "round": (_number, _raw("0", "1", "2", "3", "-1", "400"), _raw("0.5", "0.7", "0.9", ".1")),
    **dict.fromkeys(
        ("add", "add1", "add1f", "addf", "biggest", "ceil", "div", "divf", "float64", "floor", "int", "int64",
         "max", "maxf", "min", "minf", "mod", "mul", "mulf", "sub", "subf", "toDecimal", "atoi"), _numbers,
    ),
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), (_number, _number)),
    **dict.fromkeys(("chunk", "mustChunk"), (_raw("1", "2", "3", "5"), _items)),
    **dict.fromkeys(
        ("first", "mustFirst", "last", "mustLast", "rest", "mustRest", "initial", "mustInitial", "reverse",
         "mustReverse", "compact", "mustCompact", "uniq", "mustUniq", "sortAlpha", "toStrings", "concat"),
        (_items,),
    ),
    **dict.fromkeys(
        ("append", "push", "mustAppend", "mustPush", "prepend", "mustPrepend", "without", "mustWithout"),
        _list_then_anything,
    ),
    **dict.fromkeys(("slice", "mustSlice"), (_items, _raw("0", "1", "2", "3", "-1"))),
    **dict.fromkeys(("has", "mustHas"), (_anything, _items)),
    "join": (_one_of(",", "", " - "), _items),
    "index": (_raw('"héllo"', "(list 1 2 3)", '(dict "a" (list 1 2))', "(until 3)", "$"),
              _raw("0", "1", "2", "-1", '"a"', '"text"', "nil", "true")),
    "len": (_raw('"héllo"', "(list 1 2)", "(dict)", "$", "nil", "3", '(splitList "," "a,b")'),),
    "get": (_members, _key_name), "hasKey": (_members, _key_name), "unset": (_members, _key_name),
    "set": (_members, _key_name, _anything), "pluck": (_key_name, _members),
    "pick": (_members, _key_name), "omit": (_members, _key_name), "dict": (_key_name, _anything),
    "dig": (_key_name, _key_name, _members),
    "kindIs": (_one_of(*words.KINDS), _anything),
    **dict.fromkeys(("typeIs", "typeIsLike"), (_one_of(*words.TYPES), _anything)),
    "ternary": (_anything, _anything, _raw("true", "false")),
    "printf": (_one_of("%v", "%d %s", "%q", "%5.2f|%-5v", "%x", "%T", "%+v", "%#v"), _anything),
    **dict.fromkeys(("date", "dateInZone", "date_in_zone"), _zoned),
    **dict.fromkeys(("htmlDate", "ago", "unixEpoch"), (_timestamp,)),
    "htmlDateInZone": _zoned[1:],
    **dict.fromkeys(("dateModify", "date_modify", "mustDateModify", "must_date_modify"), _shifted),
    **dict.fromkeys(("duration", "durationRound"), (_one_of(*words.DURATIONS),)),
    **dict.fromkeys(("toDate", "mustToDate"), (_layout, _one_of(*words.DATES))),
    "semver": (_one_of(*words.VERSIONS),), "semverCompare": (_version_condition, _one_of(*words.VERSIONS)),
    "urlParse": (_url,), "urlJoin": (_url_parts,),
    **dict.fromkeys(("regexMatch", "mustRegexMatch", "regexFind", "mustRegexFind"), _regex),
    **dict.fromkeys(("regexFindAll", "mustRegexFindAll", "regexSplit", "mustRegexSplit"), _counted_regex),
    **dict.fromkeys(("regexReplaceAll", "mustRegexReplaceAll"), _replacing),
    **dict.fromkeys(("regexReplaceAllLiteral", "mustRegexReplaceAllLiteral"), _replacing),
    **dict.fromkeys(("fromJson", "mustFromJson"), (_one_of(*words.JSONS),)), "fromYaml": (_yaml,),
    "b64dec": (_base64,),
    "filterPEM": (_one_of("CERTIFICATE", "PRIVATE KEY", "certificate", "RSA PRIVATE KEY", ""), _pem),
    "filterCertChain": (_one_of("leaf", "intermediate", "root", ""),
                        _held("chain", "mixed", "leaf", "root", "text")),
    "certSANs": (_pem,),
    "pkcs12key": (_held(*material.KEYSTORES),), "pkcs12cert": (_held(*material.KEYSTORES),),
    "pkcs12keyPass": (_password, _held(*material.KEYSTORES)),
    "pkcs12certPass": (_password, _held(*material.KEYSTORES)),
    **dict.fromkeys(("pemToPkcs12", "fullPemToPkcs12"), (_pem, _pem)),
    **dict.fromkeys(("pemToPkcs12Pass", "fullPemToPkcs12Pass"), (_pem, _pem, _password)),
    "pemTruststoreToPKCS12": (_pem,), "pemTruststoreToPKCS12Pass": (_pem, _password),
    "jwkPublicKeyPem": (_held(*material.JWKS),), "jwkPrivateKeyPem": (_held(*material.JWKS),),
    "rsaDecrypt": (_one_of("RSA-OAEP", "None", "x"), _one_of("SHA256", "None", "SHA1", "SHA512", "x"),
                   _held("cipher", "text"), _held("rsa", "rsa1", "ec", "text")),
    "decryptAES": (_one_of("key", ""), _held("aes", "text")), "encryptAES": (_one_of("key", ""), _text),
    "bcrypt": (_one_of("a", "", "é"),),
    "htpasswd": (_one_of("user", "a:b", ""), _one_of("geheim", ""), _one_of("sha", "sha", "bcrypt")),
    "derivePassword": (_raw("1", "2", "-1"), _one_of("long", "maximum", "pin", "zzz", "basic"), _text),
    "genPrivateKey": (_one_of("ecdsa", "ed25519", "x"),),
    "genCA": (_one_of("ca", ""), _raw("1", "365", "-1")),
    "genCAWithKey": (_one_of("ca"), _raw("1"), _held("ec1", "rsa1", "ed", "text")),
    "genSelfSignedCert": (_one_of("me"), _raw("nil", '(list "10.0.0.1")', '(list "x")', "(list 1)"),
                          _raw("nil", '(list "a.example" "b")', "(list 1)"), _raw("1")),
    "genSelfSignedCertWithKey": (_one_of("me"), _raw("nil", '(list "::1")'), _raw('(list "a.example")'),
                                 _raw("1"), _held("ec1", "rsa1", "ed", "text")),
    "genSignedCert": (_one_of("me"), _raw("nil"), _raw('(list "b.example")'), _raw("1"),
                      _raw('(genCA "c" 1)', "nil")),
    "genSignedCertWithKey": (_one_of("me"), _raw("nil"), _raw("nil"), _raw("1"),
                             _raw("(buildCustomCert (.root | b64enc) (.ec1 | b64enc))"),
                             _held("ec1", "ed", "text")),
    "buildCustomCert": (_raw("(.root | b64enc)", "(.leaf | b64enc)", ".text", '""'),
                        _raw("(.ec1 | b64enc)", "(.rsa1 | b64enc)", "(.ed | b64enc)", ".text")),
    **dict.fromkeys(("base", "dir", "clean", "ext", "isAbs"), (_path,)),
    **dict.fromkeys(("osBase", "osDir", "osClean", "osExt", "osIsAbs"), (_path,)),
    "now": (), "uuidv4": (), "hello": (),
}  # fmt: skip
