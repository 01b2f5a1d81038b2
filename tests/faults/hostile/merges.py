"""Merges of values, and of targets that several objects write."""

import json
from typing import Any, Final

from tests.faults.hostile.manifests import (
    LIMITS,
    Hostile,
    external,
    extract,
    fake,
    read,
    same,
    templated,
    webhook,
    written,
)

ENDS: Final = f"{LIMITS}|merge|key|not found|larger|too large|takes more than|already|owned"


def merge(**how: Any) -> dict[str, Any]:  # noqa: ANN401  # fields of `merge`
    return {"merge": {"conflictPolicy": "Ignore", **how}}


def _answer(url: str) -> str:
    return written(webhook(f"{url}/body/documents/60000"), external(data_from=[extract(rewrite=[merge()])]))


CASES: Final = (
    Hostile(name="merge-many", tried="a merge of 60,000 objects", manifest=_answer, says=ENDS, end="any"),
    Hostile(
        name="merge-quoted",
        tried="objects merged into one, 60 times: each doubles the backslashes",
        quick=True,
        end="any",
        says=ENDS,
        manifest=same(
            fake({"k": '{"a": "{\\"b\\": \\"\\\\\\"\\"}"}'}),
            external(data_from=[extract(rewrite=[merge(strategy="JSON", into=f"k{n}") for n in range(60)])]),
        ),
    ),
    Hostile(
        name="merge-priority",
        tried="a list of 100,000 priorities, 20 times",
        says=ENDS,
        end="any",
        manifest=same(
            fake({"k": '{"a": "{}"}'}),
            external(
                data_from=[
                    extract(
                        rewrite=[
                            merge(
                                strategy="JSON",
                                into="a",
                                priorityPolicy="IgnoreNotFound",
                                priority=[f"p{n}" for n in range(10_000)],
                            )
                        ]
                        * 20
                    )
                ]
            ),
        ),
    ),
    Hostile(
        name="merge-conflicts",
        tried="100 sets with the same 30,000 keys",
        says=ENDS,
        end="any",
        manifest=same(
            fake(
                {
                    "k": json.dumps(
                        {f"d{n}": json.dumps({f"k{m}": "v" for m in range(700)}) for n in range(100)}
                    )
                }
            ),
            external(data_from=[extract(rewrite=[{"merge": {"conflictPolicy": "Error"}}])] * 30),
        ),
    ),
    Hostile(
        name="merge-overlaid",
        tried="3,000 entries that each give the same 1,000 keys",
        says=ENDS,
        end="any",
        manifest=same(
            fake({"k": json.dumps({f"k{m}": "v" for m in range(1000)})}),
            external(data_from=[extract()] * 3000),
        ),
    ),
    Hostile(
        name="merge-targets",
        tried="200 objects that write one Secret, again and again",
        says=f"{ENDS}|others change it before every write",
        end="any",
        manifest=same(
            fake({"k": "v", "l": "w"}),
            external(
                data=[read()], refreshInterval="100ms", target={"name": "shared", "creationPolicy": "Orphan"}
            ),
            *(
                external(
                    name=f"evil-{n}",
                    data=[read("kl"[n % 2], to=f"k{n}")],
                    refreshInterval="100ms",
                    target={"name": "shared", "creationPolicy": "Orphan", "deletionPolicy": "Merge"},
                )
                for n in range(200)
            ),
        ),
    ),
    Hostile(
        name="merge-templates",
        tried="templates that merge documents with themselves",
        says=LIMITS,
        manifest=same(
            *templated(
                {
                    "mergePolicy": "Merge",
                    "data": {
                        "a": '{{ $x := dict "a" (dict "b" (until 60000)) }}{{ range until 60000 }}'
                        "{{ $x = mergeOverwrite (deepCopy $x) $x }}{{ end }}",
                        "b": "{{ $x := list 1 }}{{ range until 60 }}"
                        "{{ $x = concat $x $x }}{{ end }}{{ len $x }}",
                    },
                },
                k="v",
            )
        ),
    ),
)
