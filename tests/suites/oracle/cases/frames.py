"""What a template does with a call, so that all runs write the same: chance, time and order are left out."""

import re
from collections.abc import Mapping
from random import Random
from typing import Final

_JSON: Final = "{{ $r := %s }}{{ typeOf $r }} {{ mustToJson $r }}"
_PLAIN: Final = (
    _JSON,
    _JSON,
    "{{ %s }}",
    "{{ %s | printf `%%v %%q` }}",
    "{{ $r := %s }}{{ if $r }}{{ kindOf $r }}{{ else }}-{{ end }} {{ printf `%%#v` $r }}",
    "{{ %s | toYaml }}",
    "{{ print 1 %s nil `x` }}",
    "{{ %s | len }}",
    "{{ eq %s 1 }}",
    "{{ range $i, $e := %s }}<{{ $i }}={{ $e }}>{{ else }}none{{ end }}",
)
_TYPE: Final = ("{{ %s | typeOf }}",)
_SORTED: Final = ("{{ %s | toStrings | sortAlpha }}", "{{ %s | len }}")
_LENGTH: Final = ("{{ %s | len }}", "{{ typeOf %s }}")
_ENTITY: Final = (
    "{{ $r := %s }}{{ certSANs $r.Cert }} {{ trunc 27 $r.Cert }} {{ trunc 27 $r.Key }}",
    "{{ %s | typeOf }}",
)
_KEYSTORE: Final = (
    "{{ $p := %s | b64dec }}{{ pkcs12cert $p }}{{ pkcs12key $p }}",
    "{{ $p := %s }}{{ typeOf $p }}",
)
_CLASSES: Final = {
    "randAlpha": "[a-zA-Z]",
    "randAlphaNum": "[a-zA-Z0-9]",
    "randNumeric": "[0-9]",
    "randAscii": "[ -~]",
}

_OWN: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("keys", "values"), _SORTED),
    **dict.fromkeys(("now", "ago", "uuidv4"), _TYPE),
    **dict.fromkeys(("bcrypt", "randBytes", "randInt"), _LENGTH),
    **{name: (f"{{{{ len %s }}}} {{{{ regexMatch `^{each}*$` %s }}}}",) for name, each in _CLASSES.items()},
    **dict.fromkeys(
        (
            "genCA",
            "genCAWithKey",
            "genSelfSignedCert",
            "genSelfSignedCertWithKey",
            "genSignedCert",
            "genSignedCertWithKey",
        ),
        _ENTITY,
    ),
    **dict.fromkeys(("pemToPkcs12", "fullPemToPkcs12", "pemTruststoreToPKCS12"), _KEYSTORE),
    "pemToPkcs12Pass": ("{{ %s | typeOf }}", "{{ $p := %s | b64dec }}{{ pkcs12certPass `geheim` $p }}"),
    "fullPemToPkcs12Pass": ("{{ %s | typeOf }}", "{{ $p := %s | b64dec }}{{ pkcs12keyPass `geheim` $p }}"),
    "pemTruststoreToPKCS12Pass": _TYPE,
    "genPrivateKey": ("{{ %s | trunc 27 }}",),
    "encryptAES": ("{{ %s | len }}{{ encryptAES `key` .text | decryptAES `key` }}",),
    "shuffle": ('{{ %s | splitList "" | sortAlpha }}',),
    "htpasswd": ("{{ %s | len }}",),
}
_CLOCK: Final = frozenset({"date", "dateInZone", "date_in_zone", "htmlDate", "htmlDateInZone"})
"""Functions that read the clock where they are given what is no time."""

_TIMED: Final = re.compile(r'\(toDate "2006|\(int64 |-?[0-9]+[ )]')


def framed(name: str, call: str, chance: Random) -> str:
    """A template around the call of this function."""
    frames = _OWN.get(name, _PLAIN) if name not in _CLOCK or _is_timed(name, call) else _TYPE
    return chance.choice(frames).replace("%s", call).replace("%%", "%")


def _is_timed(name: str, call: str) -> bool:
    moment = call.partition(" ")[2] if name.startswith("html") else call.partition('" ')[2]
    return _TIMED.match(moment) is not None
