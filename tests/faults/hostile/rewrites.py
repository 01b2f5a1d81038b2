"""Rewrites of keys: each may make a key longer, for every key."""

from typing import Any, Final

from tests.faults.hostile.manifests import (
    LIMITS,
    Hostile,
    external,
    extract,
    fake,
    push,
    same,
    secret,
    webhook,
    written,
)

INVALID_KEY: Final = f"{LIMITS}|key has (length|invalid)|collision"


def regexp(source: str, target: str) -> dict[str, Any]:
    return {"regexp": {"source": source, "target": target}}


def _rewriting(
    name: str, tried: str, value: str, *rewrites: dict[str, Any], says: str = LIMITS, quick: bool = False
) -> Hostile:
    """Rewrites of what a value in the manifest holds."""
    manifest = same(fake({"k": value}), external(data_from=[extract(rewrite=list(rewrites))]))
    return Hostile(name=name, tried=tried, manifest=manifest, says=says, quick=quick)


def _of_answer(name: str, tried: str, body: str, *rewrites: dict[str, Any]) -> Hostile:
    """Rewrites of what an answer holds."""

    def manifest(url: str) -> str:
        return written(webhook(f"{url}/body/{body}"), external(data_from=[extract(rewrite=list(rewrites))]))

    return Hostile(name=name, tried=tried, manifest=manifest, says=INVALID_KEY)


DOUBLE: Final = regexp(".+", "${0}${0}")
ONE: Final = '{"a": "v"}'

CASES: Final = (
    _rewriting(
        "rewrite-doubled", "a rewrite that doubles the key, 34 times, 1 KiB", ONE, *[DOUBLE] * 34, quick=True
    ),
    Hostile(
        name="push-doubled",
        tried="the same in a PushSecret",
        kind="PushSecret",
        says=LIMITS,
        manifest=same(
            fake({}),
            secret("given", {"a": "v"}),
            push(dataTo=[{"storeRef": {"name": "evil"}, "rewrite": [DOUBLE] * 34}]),
        ),
    ),
    _rewriting(
        "rewrite-long",
        "each of 100,000 characters becomes 100,000",
        '{"' + "a" * 100_000 + '": "v"}',
        regexp(".", "b" * 100_000),
    ),
    _rewriting(
        "rewrite-groups",
        "one match, written 20,000 times",
        '{"' + "a" * 20_000 + '": "v"}',
        regexp("(.*)", "$1" * 20_000),
    ),
    _rewriting(
        "rewrite-repeat",
        "`{{ repeat 1000000 .value }}`, ten times",
        ONE,
        *[{"transform": {"template": "{{ repeat 1000000 .value }}"}}] * 10,
    ),
    _rewriting(
        "rewrite-loop",
        "a transform that loops without an end",
        ONE,
        {
            "transform": {
                "template": "{{ range $i := until 2000000000 }}{{ range until 2000000000 }}{{ end }}{{ end }}"
            }
        },
    ),
    _rewriting(
        "rewrite-empty",
        "an expression that matches between all characters, 30 times",
        ONE,
        *[regexp("", "xy")] * 30,
    ),
    _of_answer("rewrite-keys", "100 rewrites of 10,000 keys", "keys/10000", *[regexp("k(.*)", "k$1")] * 100),
    _of_answer(
        "rewrite-transforms",
        "30 transforms of 10,000 keys",
        "keys/10000",
        *[{"transform": {"template": "{{ .value | upper | lower | title | b64enc | b64dec }}"}}] * 30,
    ),
)
