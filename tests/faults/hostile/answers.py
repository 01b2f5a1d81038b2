"""Answers of a server that the hostile author runs."""

from typing import Any, Final

from tests.faults.hostile.manifests import LIMITS, MIB, End, Hostile, external, read, secret, webhook, written

BOUNDED: Final = f"{LIMITS}|answerMemory|larger than|too large|bytes"
FAILS: Final = (
    f"{BOUNDED}|no answer|not reached|redirect|broken|failed|within|too many requests|refused|throttled|"
    "memory|HTTP|has not answered|connection|cannot be read"
)


def _answer(
    name: str,
    tried: str,
    path: str,
    says: str = FAILS,
    *,
    reads: int = 1,
    end: End = "not ready",
    quick: bool = False,
    **spec: Any,  # noqa: ANN401  # fields of the store
) -> Hostile:
    """One object that reads so many keys of one webhook."""

    def manifest(url: str) -> str:
        data = [read(f"k{n}", to=f"k{n}") for n in range(reads)]
        login = secret("login", {"user": "u", "password": "p"}, **{"external-secrets.io/type": "webhook"})
        return written(login, webhook(url + path, **spec), external(data=data))

    return Hostile(name=name, tried=tried, manifest=manifest, says=says, end=end, quick=quick)


KEY: Final = "?{{ .remoteRef.key }}"
LOGIN: Final = {
    "ntlm": {
        "usernameSecret": {"name": "login", "key": "user"},
        "passwordSecret": {"name": "login", "key": "password"},
    }
}

CASES: Final = (
    _answer("answers-large", "100 answers of 8 MiB", f"/body/text/{8 * MIB - 1}" + KEY, reads=100),
    _answer(
        "answers-parsed",
        "100 answers of 4 MB of JSON",
        "/body/things/80000" + KEY,
        reads=100,
        result={"jsonPath": "$[0].a"},
        end="any",
    ),
    _answer(
        "answers-too-large",
        "100 answers of 200 MB",
        "/body/text/200000000" + KEY,
        reads=100,
    ),
    _answer("answers-endless", "100 answers without an end", "/endless/fast" + KEY, reads=100),
    _answer(
        "answers-slow",
        "100 answers of ten bytes a second",
        "/endless/slow" + KEY,
        reads=100,
        end="any",
        timeout="3s",
    ),
    _answer("answers-bomb", "100 answers of 4 GB, compressed to 4 MB", "/bomb" + KEY, reads=100),
    _answer("answers-redirects", "redirects without an end, each with a megabyte", "/redirect/1", quick=True),
    _answer("answers-headers", "7 MB of headers", "/headers" + KEY, reads=20),
    _answer("answers-later", "`Retry-After` of a number of 5,000 digits", "/later/" + "9" * 5000, end="any"),
    _answer("answers-never", "`Retry-After: 1e308`", "/later/1e308", end="any"),
    _answer("answers-login", "an NTLM challenge that is none", "/unauthorized" + KEY, reads=20, auth=LOGIN),
    _answer(
        "answers-base64",
        "an answer of 8 MB that is decoded in 200 entries",
        "/body/base64/2000000",
        reads=200,
        end="any",
    ),
)
