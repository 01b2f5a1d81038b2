"""Very many objects, namespaces, stores, selectors and schedules."""

from typing import Any, Final

from tests.faults.hostile.manifests import (
    API,
    Document,
    Hostile,
    external,
    extract,
    fake,
    many,
    read,
    same,
    store,
    webhook,
    written,
)

ANY: Final = "."


def _namespaces(count: int) -> list[Document]:
    return [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": f"evil-{n}", "labels": {"number": str(n), "who": "evil"}},
        }
        for n in range(count)
    ]


def _everywhere(**spec: Any) -> Document:  # noqa: ANN401  # fields of the spec
    made = external(data=[read()], secretStoreRef={"name": "evil-all", "kind": "ClusterSecretStore"})["spec"]
    return {
        "apiVersion": API,
        "kind": "ClusterExternalSecret",
        "metadata": {"name": "evil"},
        "spec": {"externalSecretSpec": made, "refreshTime": "1s", **spec},
    }


ALL: Final[Document] = {
    "apiVersion": API,
    "kind": "ClusterSecretStore",
    "metadata": {"name": "evil-all"},
    "spec": {"provider": {"fake": {"data": [{"key": "k", "value": "v"}]}}},
}


def _stores(url: str) -> str:
    webhooks = [webhook(f"{url}/body/text/1?{n}") for n in range(3000)]
    for number, each in enumerate(webhooks):
        each["metadata"]["name"] = f"evil-{number}"
    reads = [
        external(name=f"evil-{n}", data=[read()], secretStoreRef={"name": f"evil-{n}"}) for n in range(3000)
    ]
    return written(*webhooks, *reads, fake({"k": "v"}), external(data=[read()]))


WINDOWS: Final = [{"schedule": f"{n % 60} {n % 24} 31 2 *", "duration": "87600h"} for n in range(5000)]

CASES: Final = (
    Hostile(
        name="many-objects",
        kind="SecretStore",
        tried="20,000 ExternalSecrets",
        end="any",
        says=ANY,
        manifest=many(
            lambda: (
                fake({"k": "v"}),
                *(external(name=f"evil-{n}", data=[read()], refreshInterval="1h") for n in range(20_000)),
            )
        ),
    ),
    Hostile(
        name="many-stores",
        tried="3,000 webhook stores, each with an object",
        manifest=_stores,
        end="any",
        says=ANY,
    ),
    Hostile(
        name="many-values",
        tried="nine fake stores of 45,000 values each",
        manifest=many(
            lambda: (
                *(fake({f"key-{n}": "v" for n in range(45_000)}, f"evil-{s}") for s in range(9)),
                fake({"k": "v"}),
                external(data=[read()]),
            )
        ),
        end="any",
        says=ANY,
    ),
    Hostile(
        name="many-namespaces",
        kind="ClusterExternalSecret",
        tried="a ClusterExternalSecret over 3,000 namespaces",
        end="any",
        says=ANY,
        manifest=same(
            ALL, *_namespaces(3000), _everywhere(namespaceSelectors=[{"matchLabels": {"who": "evil"}}])
        ),
    ),
    Hostile(
        name="many-selectors",
        kind="ClusterExternalSecret",
        tried="1,000 selectors of 1,000 values each over 1,000 namespaces",
        end="any",
        says=ANY,
        manifest=many(
            lambda: (
                ALL,
                *_namespaces(1000),
                _everywhere(
                    namespaceSelectors=[
                        {
                            "matchExpressions": [
                                {
                                    "key": "number",
                                    "operator": "NotIn",
                                    "values": [f"v{s}-{v}" for v in range(100)],
                                }
                            ]
                        }
                        for s in range(1000)
                    ]
                ),
            )
        ),
    ),
    Hostile(
        name="often",
        tried="300 objects with an interval of a nanosecond",
        end="any",
        says=ANY,
        quick=True,
        manifest=many(
            lambda: (
                fake({"k": "v"}),
                external(data=[read()], refreshInterval="1ns"),
                *(external(name=f"evil-{n}", data=[read()], refreshInterval="1ns") for n in range(300)),
            )
        ),
    ),
    Hostile(
        name="schedules",
        tried="5,000 windows on a day that never comes",
        end="any",
        says=ANY,
        manifest=same(
            fake({"k": "v"}), external(data=[read()], syncWindows={"kind": "allow", "windows": WINDOWS})
        ),
    ),
    Hostile(
        name="schedules-deny",
        tried="5,000 windows that deny, of ten years each, for 50 objects",
        end="any",
        says=ANY,
        manifest=many(
            lambda: (
                fake({"k": "v"}),
                *(
                    external(name=name, data=[read()], syncWindows={"kind": "deny", "windows": WINDOWS})
                    for name in ("evil", *(f"e{n}" for n in range(50)))
                ),
            )
        ),
    ),
    Hostile(
        name="durations",
        tried="durations at the end of their range",
        end="any",
        says=ANY,
        manifest=same(
            fake({"k": "v"}),
            *(
                external(name=f"evil-{n}", data=[read()], refreshInterval=text)
                for n, text in enumerate(
                    (
                        "2562047h47m16.854775807s",
                        "-1h",
                        "1e9h",
                        "9" * 5000 + "h",
                        "0.000000000001ns",
                        "1h" * 5000,
                    )
                )
            ),
            external(data=[read()], refreshInterval="2562047h"),
        ),
    ),
    Hostile(
        name="many-entries",
        tried="30,000 entries of one object",
        end="any",
        says=ANY,
        manifest=many(lambda: (fake({"k": "v"}), external(data=[read(to=f"k{n}") for n in range(30_000)]))),
    ),
    Hostile(
        name="many-sources",
        tried="5,000 `extract` of 5,000 keys that are not there",
        end="any",
        says=ANY,
        manifest=many(
            lambda: (store("fake", {"data": []}), external(data_from=[extract(f"k{n}") for n in range(5000)]))
        ),
    ),
)
