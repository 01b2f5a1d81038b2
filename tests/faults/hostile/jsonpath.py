"""JSONPaths of webhooks, and answers that they lead through."""

from typing import Final

from tests.faults.hostile.manifests import LIMITS, End, Hostile, external, extract, read, webhook, written


def _path(
    name: str,
    tried: str,
    body: str,
    path: str,
    says: str = f"{LIMITS}|get any result",
    *,
    end: End = "not ready",
    quick: bool = False,
) -> Hostile:
    """One JSONPath into an answer."""

    def manifest(url: str) -> str:
        store = webhook(f"{url}/body/{body}", result={"jsonPath": path})
        return written(store, external(data=[read()]))

    return Hostile(name=name, tried=tried, manifest=manifest, end=end, says=says, quick=quick)


def _extracted(name: str, tried: str, body: str, says: str = LIMITS) -> Hostile:
    """A whole answer as a set of keys."""

    def manifest(url: str) -> str:
        return written(webhook(f"{url}/body/{body}"), external(data_from=[extract()]))

    return Hostile(name=name, tried=tried, manifest=manifest, says=says)


HUNDRED: Final = "[" + ",".join("0" for _ in range(100)) + "]"
TOO_LARGE: Final = f"{LIMITS}|larger than|too large|at most|out of range|get any result"
FAILS: Final = f"{TOO_LARGE}|takes more than|not found|too deep|is not|does not|goes"

CASES: Final = (
    _path(
        "jsonpath-union",
        "unions of 100 places, ten times, 2 KiB",
        "numbers/3",
        "$" + HUNDRED * 10,
        quick=True,
    ),
    _path("jsonpath-union-short", "unions of 100 places, five times", "nested/9", "$" + HUNDRED * 5),
    _path(
        "jsonpath-same",
        "a filter that compares the document with itself for each element, 2 MB",
        "things/40000",
        "$[?($ == $)]",
        FAILS,
    ),
    _path("jsonpath-everything", "`$..x` over 8 MB", "things/150000", "$..x", FAILS),
    _path("jsonpath-twice", "`$..[*]..[*]` over 20,000 objects", "things/20000", "$..[*]..[*]", end="any"),
    _path(
        "jsonpath-filters",
        "filters within filters",
        "things/5000",
        "$[?(@.x[?(@ == $)] == $[?(@.a == $[0].a)])]",
        FAILS,
    ),
    _path(
        "jsonpath-slices",
        "forty slices of all elements after another",
        "things/40000",
        "$" + "[0:40000:1]" * 40,
        FAILS,
    ),
    _path("jsonpath-small", "a small path over little", "things/10", "$[0].a", end="ready"),
    _path(
        "jsonpath-arithmetic", "a number of 9,000 digits, multiplied", "digits/5", "$.v * " + "9" * 9000, "."
    ),
    _path(
        "jsonpath-deep",
        "parentheses nested 4,000 times",
        "numbers/3",
        "$[" + "(" * 4000 + "1" + ")" * 4000 + "]",
        ".",
    ),
    _path("json-digits", "a number of 4 million digits", "digits/4000000", "$.v", FAILS),
    _path("json-exponent", "an exponent of 4 million digits", "exponent/4000000", "$.v", FAILS),
    _path("json-brackets", "4 million brackets", "nested/4000000", "$..x", FAILS),
    _path("json-members", "a million members, one within the other", "deep/1000000", "$..x", FAILS),
    _path("json-empty", "2.7 million empty lists in 8 MB", "empty/2700000", "$..x", FAILS),
    _extracted("extract-objects", "`extract` of 260,000 objects in 8 MB", "objects/260000", FAILS),
    _extracted("extract-keys", "`extract` of 150,000 keys: all are converted", "keys/150000", FAILS),
    _extracted("extract-collisions", "100,000 numbers as keys, each twice", "collisions/100000", FAILS),
    _extracted("extract-escapes", "a value of 1.3 million escapes", "escapes/1300000", FAILS),
)
