"""Templates of outputs: loops, functions that multiply, keys, documents that share their parts."""

from base64 import b64encode
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final

from tests.faults.hostile.manifests import (
    LIMITS,
    End,
    Hostile,
    external,
    fake,
    read,
    same,
    secret,
    templated,
    written,
)

WIDE: Final = "{{ range until 60000 }}"
ENDS: Final = "{{ end }}"


def _text(
    name: str,
    tried: str,
    *texts: str,
    says: str = LIMITS,
    end: End = "not ready",
    quick: bool = False,
    **values: str,
) -> Hostile:
    """One template for each text, over a few values."""
    template = {"data": {f"t{number}": text for number, text in enumerate(texts)}}
    manifest = same(*templated(template, **(values or {"k": "v"})))
    return Hostile(name=name, tried=tried, manifest=manifest, end=end, says=says, quick=quick)


def _template(name: str, tried: str, template: dict[str, Any], says: str = LIMITS) -> Hostile:
    return Hostile(name=name, tried=tried, manifest=same(*templated(template, k="v")), says=says)


@cache
def _patient() -> str:
    """A PKCS#12 file whose key is derived in eight million rounds."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import PrivateFormat, pkcs12

    rounds = 100_003
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "evil")])
    builder = x509.CertificateBuilder(
        name, name, key.public_key(), 1, datetime.now(UTC), datetime.now(UTC) + timedelta(1)
    )
    encryption = (
        PrivateFormat.PKCS12.encryption_builder()
        .kdf_rounds(rounds)
        .key_cert_algorithm(pkcs12.PBES.PBESv1SHA1And3KeyTripleDESCBC)
        .hmac_hash(hashes.SHA256())
        .build(b"p")
    )
    file = pkcs12.serialize_key_and_certificates(
        b"evil", key, builder.sign(key, hashes.SHA256()), None, encryption
    )
    return b64encode(file.replace(rounds.to_bytes(3), (2**23 - 1).to_bytes(3))).decode()


def _slow_file(_url: str) -> str:
    template = {"data": {"a": '{{ .k | b64dec | pkcs12keyPass "p" }}'}}
    return written(*templated(template, k=_patient()))


CASES: Final = (
    _text("template-loop", "loops within loops", WIDE * 6 + "x" + ENDS * 6, quick=True),
    _text("template-loops", "1,000 texts that each loop for long", *[WIDE + "x" + ENDS] * 1000),
    _text("template-keys", "twelve RSA keys", *['{{ genPrivateKey "rsa" }}'] * 12),
    _text(
        "template-dsa",
        "a DSA key, and certificates of authorities",
        *['{{ genPrivateKey "dsa" }}'] * 3,
        *['{{ (genCA "evil" 365).Cert }}'] * 12,
    ),
    _text(
        "template-scrypt",
        "300 derived passwords, 32 MiB each",
        "{{ range until 300 }}" + '{{ derivePassword 1 "long" "p" "u" . }}' + ENDS,
        says=LIMITS + "|wrong type|derive",
    ),
    _text(
        "template-bcrypt",
        "1,000 bcrypt hashes",
        "{{ range until 1000 }}" + '{{ bcrypt "p" }}{{ htpasswd "u" "p" "bcrypt" }}' + ENDS,
    ),
    _text(
        "template-recursion",
        "a template that calls itself",
        '{{ define "a" }}{{ template "a" . }}{{ template "a" . }}{{ end }}{{ template "a" . }}',
        says=LIMITS + "|depth|deep",
    ),
    _text(
        "template-width",
        "numbers printed 2 GB wide",
        '{{ printf "%2000000000d" 1 }}',
        '{{ printf "%.1000000f" 1e300 }}',
        '{{ printf "%*d" 1000000000 1 }}',
        end="any",
        says=LIMITS + "|too large|BADWIDTH|exceeds|at most",
    ),
    _text(
        "template-repeat",
        "texts of a gigabyte",
        '{{ repeat 1000000000 "a" }}',
        '{{ indent 1000000000 "a" }}',
        '{{ nindent 1000000000 "a" }}',
        '{{ list | join (repeat 1000000000 ",") }}',
    ),
    _text(
        "template-sequence",
        "a list of two billion numbers",
        "{{ untilStep 0 2000000000 1 | toJson }}",
        "{{ seq 1 1 2000000000 }}",
    ),
    _text("template-base64", "base64 of base64, 120 times", "{{ .k " + "| b64enc " * 120 + "}}"),
    _text(
        "template-quoted",
        "a text quoted 60 times: each doubles the backslashes",
        "{{ .k " + "| quote " * 60 + "}}",
        "{{ .k " + "| toJson " * 60 + "}}",
    ),
    _text(
        "template-shared",
        "a document whose parts are shared, 2^60 of them",
        '{{ $x := dict "a" "a" }}{{ range until 60 }}{{ $x = dict "a" $x "b" $x }}{{ end }}{{ $x | toJson }}',
        '{{ $x := dict "a" "a" }}{{ range until 60 }}{{ $x = dict "a" $x "b" $x }}{{ end }}'
        "{{ $x | deepCopy | toYaml }}",
        "{{ $x := list 1 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ $x }}{{ eq $x $x }}",
    ),
    _text(
        "template-circle",
        "a document that contains itself",
        '{{ $x := dict }}{{ $_ := set $x "a" $x }}{{ $x | toJson }}',
        '{{ $x := dict }}{{ $_ := set $x "a" $x }}{{ deepEqual $x $x }}{{ $x }}',
        says=LIMITS + "|circ|deep|cycle|itself|json|nest",
    ),
    _text(
        "template-yaml",
        "a YAML document of aliases",
        "{{ fromYaml .k | toYaml }}",
        k="a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(
            f"{chr(98 + n)}: &{chr(98 + n)} [{','.join('*' + chr(97 + n) for _ in range(9))}]\n"
            for n in range(12)
        ),
        says=LIMITS + "|alias|YAML|yaml",
    ),
    _text(
        "template-dates",
        "a layout of a megabyte",
        '{{ now | date (repeat 300000 "Monday") }}',
        '{{ dateModify "99999999999h" now }}',
        "{{ duration 99999999999999999999 }}",
        says=LIMITS + "|overflow|duration|integer|type|range",
    ),
    _text(
        "template-numbers",
        "numbers at the end of their range",
        "{{ round 1e300 1000000 }}",
        "{{ pow 9999999 9999999 }}",
        "{{ mul 9223372036854775807 9223372036854775807 9223372036854775807 }}",
        '{{ float64 (repeat 900000 "9") }}',
        says=LIMITS + "|function|range|number|value",
    ),
    _text(
        "template-versions",
        "versions of 100,000 parts",
        '{{ semverCompare (repeat 100000 ">1 || ") "1.0.0" }}',
        '{{ semver (repeat 100000 "1.") }}',
        says=LIMITS + "|version|constraint|Constraint",
    ),
    _text(
        "template-sort",
        "a list of 60,000 texts, sorted and searched again and again",
        "{{ $l := until 60000 }}{{ range until 60000 }}{{ $_ := $l | sortAlpha | uniq }}"
        "{{ has . $l }}{{ without $l . | len }}{{ end }}",
    ),
    _text(
        "template-unicode",
        "case, width and wrapping of a megabyte of strange characters",
        "{{ .k | repeat 20000 | title | untitle | swapcase | snakecase | kebabcase "
        "| wrap 1 | nospace | initials | trunc 5 }}"
        '{{ .k | repeat 50000 | splitList "" | join "," | abbrev 100000 | replace "" "x" }}',
        k="\u1e9e\u0130\ufdfa\U0001f469\u200d\U0001f469\u0301",
    ),
    _text(
        "template-text",
        "a template of 2.5 MB of braces",
        "{{/**/}}" * 300_000,
        says=LIMITS + "|larger|longer|too",
    ),
    _text(
        "template-nested",
        "parentheses nested 100,000 times",
        "{{ " + "(" * 100_000 + "1" + ")" * 100_000 + " }}",
        says=LIMITS + "|deep|nest",
    ),
    _template(
        "template-literal",
        "3,000 literals, each a map of 1,000 keys",
        {
            "templateFrom": [
                {"literal": "{{ range until 1000 }}k{{ . }}-" + str(n) + ": v\n{{ end }}"}
                for n in range(3000)
            ]
        },
    ),
    _template(
        "template-labels",
        "3,000 labels and annotations that loop",
        {
            "metadata": {
                "labels": {f"l{n}": "{{ range until 300 }}{{ end }}v" for n in range(1500)},
                "annotations": {f"a{n}": "{{ range until 3000 }}x{{ end }}" for n in range(1500)},
            }
        },
    ),
    Hostile(
        name="template-pkcs12",
        tried="a PKCS#12 file whose key takes eight million rounds",
        manifest=_slow_file,
        says=LIMITS + "|pkcs12|rounds|iterations",
    ),
    Hostile(
        name="template-sources",
        tried="300 templates of a Secret of a megabyte, each parsed anew",
        manifest=same(
            fake({"k": "v"}),
            secret("texts", {f"t{n}": "{{ .k }}" * 400 + str(n) for n in range(300)}),
            external(
                data=[read()],
                target={
                    "template": {
                        "templateFrom": [
                            {
                                "secret": {
                                    "name": "texts",
                                    "items": [
                                        {"key": f"t{n}", "templateAs": "KeysAndValues"} for n in range(300)
                                    ],
                                }
                            }
                        ]
                        * 20
                    }
                },
            ),
        ),
        says=LIMITS + "|YAML|map",
    ),
)
