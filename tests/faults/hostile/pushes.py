"""PushSecrets: many Secrets, many stores, properties of what a store holds."""

from typing import Final

from tests.faults.hostile.manifests import (
    LIMITS,
    MIB,
    Document,
    End,
    Hostile,
    fake,
    many,
    push,
    secret,
    store,
    webhook,
    written,
)

ENDS: Final = f"{LIMITS}|too (many|large|long)|larger|property|index|duplicate|path|failed"


def _pushed(
    name: str, tried: str, *documents: Document, says: str = ENDS, end: End = "any", quick: bool = False
) -> Hostile:
    return Hostile(
        name=name,
        tried=tried,
        manifest=many(lambda: (*documents,)),
        kind="PushSecret",
        says=says,
        end=end,
        quick=quick,
    )


def _entry(remote: str = "r", key: str = "k", **more: str) -> Document:
    return {"match": {"secretKey": key, "remoteRef": {"remoteKey": remote, **more}}}


GIVEN: Final = secret("given", {"k": "v"})
LABELS: Final = {"who": "evil"}


def _large(url: str) -> str:
    body = "{{ .remoteRef.k }}" * 40
    return written(
        webhook(f"{url}/body/text/1", body=body),
        secret("given", {"k": "a" * 900_000}),
        push(data=[_entry(f"r{n}") for n in range(200)]),
    )


CASES: Final = (
    _pushed(
        "push-selector",
        "2,000 Secrets, selected by a label, for 100 stores",
        *(store("fake", {"data": []}, f"evil-{n}", labels=LABELS) for n in range(100)),
        *(secret(f"given-{n}", {"k": "v"}, **LABELS) for n in range(2000)),
        push(
            secretStoreRefs=[{"labelSelector": {"matchLabels": LABELS}}],
            selector={"secret": {"selector": {"matchLabels": LABELS}}},
            data=[_entry()],
        ),
        says="runs for",
    ),
    _pushed(
        "push-index",
        "a property with an index of two billion",
        fake({}),
        GIVEN,
        push(data=[_entry(property="a.2000000000"), _entry("s", property=".".join(["9999"] * 300))]),
        quick=True,
    ),
    _pushed(
        "push-path",
        "a property of 100,000 parts",
        fake({}),
        GIVEN,
        push(data=[_entry(property="a." * 100_000 + "a")]),
    ),
    _pushed(
        "push-properties",
        "3,000 properties of one document, each written anew",
        fake({}),
        GIVEN,
        push(data=[_entry(property=f"a{n}.9999") for n in range(3000)]),
    ),
    _pushed(
        "push-keys",
        "1,000 keys in 50 bundles, by expressions",
        fake({}),
        secret("given", {f"k{n}": "a" * 900 for n in range(1000)}),
        push(
            dataTo=[
                {"storeRef": {"name": "evil"}, "remoteKey": f"r{n}", "match": {"regexp": f"{n}"}}
                for n in range(50)
            ]
        ),
    ),
    _pushed(
        "push-template",
        "a template that doubles a Secret of a megabyte",
        fake({}),
        secret("given", {"k": "a" * 900_000}),
        push(data=[_entry()], template={"data": {"k": "{{ .k }}" * 1000}}),
        end="any",
        says=LIMITS + "|larger|too large",
    ),
    _pushed(
        "push-metadata",
        "metadata of 2 MB of brackets",
        fake({}),
        GIVEN,
        push(data=[{**_entry(), "metadata": {"a": [[]] * 500_000}}]),
        says=f"{ENDS}|metadata",
    ),
    _pushed(
        "push-refs",
        "10,000 references to one store",
        fake({}),
        GIVEN,
        push(secretStoreRefs=[{"name": "evil"}] * 10_000, data=[_entry(f"r{n}") for n in range(30)]),
    ),
    Hostile(
        name="push-bodies",
        tried="200 bodies of 36 MB, made of a Secret of a megabyte",
        manifest=_large,
        kind="PushSecret",
        end="any",
        says=f"{ENDS}|body",
    ),
)
assert MIB
