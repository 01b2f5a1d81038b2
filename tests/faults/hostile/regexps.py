"""Regular expressions: what they compile to, and what they are matched with."""

from typing import Final

from tests.faults.hostile.manifests import (
    LIMITS,
    Hostile,
    external,
    extract,
    fake,
    many,
    push,
    same,
    secret,
    store,
    templated,
)
from tests.faults.hostile.rewrites import regexp

ONE: Final = '{"a": "v"}'
TOO_LONG: Final = f"{LIMITS}|compile|invalid repeat|pattern|expression|key has"
CLASS: Final = r"[\pL\pN\pP\pS\pZ\pC]"

CASES: Final = (
    Hostile(
        name="regexp-many",
        tried="600 expressions that repeat 500 times, 45 KiB",
        manifest=many(
            lambda: (
                fake({"k": ONE}),
                external(
                    data_from=[
                        extract(rewrite=[regexp(f"^{n}(a{{500}}|b{{900}}){{1}}$", "x") for n in range(600)])
                    ]
                ),
            )
        ),
        end="any",
        says=TOO_LONG,
    ),
    Hostile(
        name="regexp-classes",
        tried="200 expressions of large classes, repeated 1,000 times",
        quick=True,
        manifest=many(
            lambda: (
                fake({"k": ONE}),
                external(
                    data_from=[extract(rewrite=[regexp(f"{n}(?i){CLASS}{{1000}}", "x") for n in range(200)])]
                ),
            )
        ),
        end="any",
        says=TOO_LONG,
    ),
    Hostile(
        name="regexp-alternatives",
        tried="an expression of 100,000 alternatives",
        manifest=many(
            lambda: (
                fake({"k": ONE}),
                external(
                    data_from=[extract(rewrite=[regexp("|".join(f"k{n}" for n in range(100_000)), "x")])]
                ),
            )
        ),
        end="any",
        says=TOO_LONG,
    ),
    Hostile(
        name="regexp-nested",
        tried="repetitions within repetitions",
        manifest=same(
            fake({"k": ONE}),
            external(data_from=[extract(rewrite=[regexp("((((a{30}){30}){30}){30}){30}", "x")])]),
        ),
        says=TOO_LONG,
    ),
    Hostile(
        name="regexp-groups",
        tried="20,000 groups within each other",
        manifest=same(
            fake({"k": ONE}),
            external(data_from=[extract(rewrite=[regexp("(" * 20_000 + ")" * 20_000, "x")])]),
        ),
        end="any",
        says=TOO_LONG,
    ),
    Hostile(
        name="regexp-find",
        tried="`find` with an expression of large classes over 40,000 names",
        manifest=many(
            lambda: (
                fake({f"key-{n:05}": "v" for n in range(40_000)}),
                external(data_from=[{"find": {"name": {"regexp": f"(({CLASS}*)*{CLASS}{{500}})*x"}}}]),
            )
        ),
        end="any",
        says=f"{TOO_LONG}|larger|no secrets|found",
    ),
    Hostile(
        name="regexp-template",
        tried="expressions in templates, over a megabyte",
        manifest=same(
            *templated(
                {
                    "data": {
                        "a": '{{ regexReplaceAll "(a|b|ab)*c" (repeat 1000000 "ab") "${1}${1}" }}',
                        "b": '{{ regexFindAll "a*" (repeat 1000000 "ab") -1 | toJson }}',
                        "c": '{{ regexSplit "" (repeat 1000000 "ab") -1 | toJson }}',
                    }
                },
                k="v",
            )
        ),
        says=LIMITS,
    ),
    Hostile(
        name="regexp-namespaces",
        tried="a store whose conditions are 2,000 expressions",
        manifest=many(
            lambda: (
                {
                    "apiVersion": "external-secrets.io/v1",
                    "kind": "ClusterSecretStore",
                    "metadata": {"name": "evil-all"},
                    "spec": {
                        "conditions": [{"namespaceRegexes": [f"{n}{CLASS}{{300}}" for n in range(2000)]}],
                        "provider": {"fake": {"data": [{"key": "k", "value": "v"}]}},
                    },
                },
                external(
                    data_from=[extract()], secretStoreRef={"name": "evil-all", "kind": "ClusterSecretStore"}
                ),
            )
        ),
        end="any",
        says=f"{TOO_LONG}|using cluster store|not allowed|denied|conditions",
    ),
    Hostile(
        name="regexp-push",
        tried="PushSecret: 300 expressions, each over 1,000 keys",
        kind="PushSecret",
        manifest=many(
            lambda: (
                fake({}),
                secret("given", {f"key-{n}": "v" for n in range(1000)}),
                push(
                    dataTo=[
                        {"storeRef": {"name": "evil"}, "match": {"regexp": f"(?i){n}{CLASS}{{900}}x"}}
                        for n in range(300)
                    ]
                ),
            )
        ),
        end="any",
        says=TOO_LONG,
    ),
    Hostile(
        name="regexp-unused",
        tried="the same in a store that nobody reads",
        kind="SecretStore",
        end="any",
        says=".",
        manifest=many(
            lambda: (
                store("fake", {"data": []}),
                external(data_from=[extract(rewrite=[regexp(CLASS * 900 + str(n), "x") for n in range(50)])]),
            )
        ),
    ),
)
