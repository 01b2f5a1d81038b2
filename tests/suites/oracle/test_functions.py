"""Every function with every kind of argument."""

from collections.abc import Mapping
from typing import Final, cast

import pytest

from syncret.daemon.core.templating import operator
from tests.suites.oracle import ours
from tests.suites.oracle.cases import material
from tests.suites.oracle.cases.calls import Calls
from tests.suites.oracle.cases.frames import framed
from tests.suites.oracle.client import Answer, Oracle, bytes_of
from tests.suites.oracle.conftest import Share
from tests.suites.oracle.tally import Tally

FUNCTIONS: Final = operator.FUNCTIONS.table
SLOW: Final = {
    **dict.fromkeys(
        ("bcrypt", "htpasswd", "genPrivateKey", "genSelfSignedCertWithKey", "genSignedCertWithKey"), 50
    ),
    **dict.fromkeys(("derivePassword", "genCAWithKey", "pemToPkcs12Pass", "fullPemToPkcs12Pass"), 50),
    **dict.fromkeys(("genCA", "genSelfSignedCert", "genSignedCert", "pemTruststoreToPKCS12Pass"), 20),
}
"""Functions that take a tenth of a second or more, and how often they are called at most."""
CRYPTOGRAPHY: Final = (
    "pkcs12",
    "Pkcs12",
    "PKCS12",
    "PEM",
    "Pem",
    "Cert",
    "certSANs",
    "rsaDecrypt",
    "AES",
    "gen",
)
OTHER_PLACES: Final = frozenset({"reflect.Value", "sprig.HashAlgorithm"})
"""Go's own functions are not in the map, and our stand-in for a type of 2.9 is in another package."""


def test_the_signatures_are_the_same(oracle: Oracle) -> None:
    told = cast("Mapping[str, Mapping[str, object]]", oracle.ask("signatures").result)
    declared = {
        name: {"parameters": [str(each) for each in made.parameters], "variadic": str(made.variadic or "")}
        for name, made in FUNCTIONS.items()
        if name in told
    }
    declared["htpasswd"]["parameters"] = ["string", "string", "main.algorithm"]
    assert declared == told


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function(name: str, oracle: Oracle, tally: Tally, share: Share) -> None:
    held = material.data() if any(word in name for word in CRYPTOGRAPHY) else material.SMALL
    for chance in share(name, 0.5 / len(FUNCTIONS), most=SLOW.get(name, 10**9)):
        text = framed(name, Calls(FUNCTIONS, chance).call(name), chance)
        told = oracle.ask("render", text=text, data=held)
        theirs = Answer(bytes_of(told.result), told.failed, told.why) if not told.failed else told
        tally.compare(name, text, theirs, ours.rendered(text, held))
    tally.check(name)
