"""The rules of ESO's admission webhooks, which stand beside the schemas."""

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.config.schema.admission import admit
from tests.unit.config.support import CATALOG, document, external_secret, messages, push_secret, store

EMPTY: Document = {}
SA = "kubernetes.io/service-account-token"


def template(**fields: Json) -> Document:
    return {"template": fields}


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        pytest.param({}, [], id="nothing"),
        pytest.param({"deletionPolicy": "Delete"}, [], id="delete what is owned"),
        pytest.param({"deletionPolicy": "Delete", "creationPolicy": "Orphan"}, [], id="delete an orphan"),
        *(
            pytest.param(
                {"deletionPolicy": "Delete", "creationPolicy": policy},
                [
                    (
                        "spec.target.deletionPolicy: deletionPolicy=Delete must not be used when the "
                        "controller doesn't own the secret"
                    )
                ],
                id=f"delete with {policy}",
            )
            for policy in ("Merge", "None", "CreateOrMerge")
        ),
        pytest.param(
            {"deletionPolicy": "Merge", "creationPolicy": "None"},
            [
                "spec.target.deletionPolicy: deletionPolicy=Merge must not be used with creationPolicy=None",
            ],
            id="merge into nothing",
        ),
        pytest.param(template(type=SA, metadata={"annotations": {"a": "b"}}), [], id="token without account"),
        pytest.param(
            template(type=SA, metadata={"annotations": {"kubernetes.io/service-account.name": "admin"}}),
            [
                (
                    f'spec.target.template.metadata.annotations: template.type="{SA}" with annotation '
                    '"kubernetes.io/service-account.name" is not allowed'
                )
            ],
            id="token of an account",
        ),
        pytest.param(
            template(type=SA, templateFrom=[{"target": "annotations", "literal": "a: b"}]),
            [
                (
                    f'spec.target.template.templateFrom[0].target: template.type="{SA}" with templateFrom '
                    'target="Annotations" is not allowed'
                )
            ],
            id="token by template",
        ),
        pytest.param(
            template(type="bootstrap.kubernetes.io/token"),
            ['spec.target.template.type: template.type="bootstrap.kubernetes.io/token" is not allowed'],
            id="bootstrap token",
        ),
        pytest.param(template(templateFrom=[{"target": "DATA", "literal": ""}]), [], id="any case"),
        pytest.param(
            template(templateFrom=[{"target": "type", "literal": ""}]),
            [
                (
                    'spec.target.template.templateFrom[0].target: templateFrom target="type" is not allowed '
                    "when targeting a Secret"
                )
            ],
            id="path into a Secret",
        ),
        pytest.param(
            {
                "manifest": {"apiVersion": "v1", "kind": "ConfigMap"},
                **template(templateFrom=[{"target": "spec.x", "literal": ""}]),
            },
            [],
            id="path into something else",
        ),
    ],
)
def test_the_target_of_an_external_secret(target: Document, expected: list[str]) -> None:
    assert messages(admit(external_secret(target=target), CATALOG).problems) == expected


SOURCE = {"sourceRef": {"generatorRef": {"kind": "UUID", "name": "u"}}}
TWO = "spec.dataFrom[0]: extract, find, or generatorRef cannot be set at the same time"


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        pytest.param({"extract": {"key": "k"}}, [], id="extract"),
        pytest.param({"find": {}}, [], id="find"),
        pytest.param(SOURCE, [], id="generator"),
        pytest.param({"extract": {"key": "k"}, "find": {}}, [TWO], id="extract and find"),
        pytest.param({"find": {}, **SOURCE}, [TWO], id="find and generator"),
        pytest.param({"sourceRef": {"storeRef": {"name": "s"}}, "find": {}}, [], id="find in another store"),
        pytest.param(
            {"sourceRef": {}, "find": {}},
            ["spec.dataFrom[0].sourceRef: must have exactly 1 property, has 0"],
            id="empty source",
        ),
        pytest.param(
            {}, ["spec.dataFrom[0]: either extract, find, or sourceRef must be set to dataFrom"], id="nothing"
        ),
        pytest.param(
            {"extract": {"key": "k"}, "rewrite": [EMPTY]},
            ["spec.dataFrom[0].rewrite[0]: must have exactly 1 property, has 0"],
            id="empty rewrite",
        ),
    ],
)
def test_the_sources_of_an_external_secret(entry: Document, expected: list[str]) -> None:
    assert messages(admit(external_secret(dataFrom=[entry]), CATALOG).problems) == expected


def test_an_external_secret_wants_something() -> None:
    problem = "spec: either data or dataFrom should be specified"
    assert messages(admit(external_secret(data=[]), CATALOG).problems) == [problem]
    assert messages(admit(document("ExternalSecret"), CATALOG).problems) == [problem]


def test_keys_are_unique_while_what_is_gone_is_kept() -> None:
    data = [{"secretKey": "a", "remoteRef": {"key": "x"}}, {"secretKey": "a", "remoteRef": {"key": "y"}}]
    kept = admit(external_secret(data=data), CATALOG)
    assert messages(kept.problems) == ["spec.data[1].secretKey: duplicate secretKey found: a"]
    assert admit(external_secret(data=data, target={"deletionPolicy": "Merge"}), CATALOG).accepted


def test_all_problems_of_an_external_secret_are_reported() -> None:
    target = {"deletionPolicy": "Delete", "creationPolicy": "Merge"}
    found = admit(external_secret(data=[], target=target), CATALOG)
    assert [problem.path for problem in found.problems] == ["spec.target.deletionPolicy", "spec"]


UNMAINTAINED = "?spec.provider.fake: store x isn't currently maintained"


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        (0, []),
        (3600, []),
        ("90s", []),
        ("0", []),
        (-5, ["spec.refreshInterval: invalid refreshInterval -5: must not be negative"]),
        ("-1m", ['spec.refreshInterval: invalid refreshInterval "-1m": must not be negative']),
        (
            "1d",
            ['spec.refreshInterval: invalid refreshInterval "1d": time: unknown unit "d" in duration "1d"'],
        ),
        (
            "60",
            ['spec.refreshInterval: invalid refreshInterval "60": time: missing unit in duration "60"'],
        ),
        (2**31, ["spec.refreshInterval: invalid refreshInterval 2147483648: must fit into 32 bits"]),
        (True, ["spec.refreshInterval: must be an integer or a string, not a boolean"]),
    ],
)
def test_the_interval_of_a_store(interval: Json, expected: list[str]) -> None:
    problems = admit(store(refreshInterval=interval), CATALOG).problems
    assert [line for line in messages(problems) if line != UNMAINTAINED] == expected


def test_the_conditions_of_a_store() -> None:
    conditions = [
        {"namespaceRegexes": ["^team-.*$"]},
        {"namespaceRegexes": ["a", "(?=b)"], "namespaces": ["ok"]},
    ]
    problems = admit(
        store({"vault": {"server": "x"}}, kind="ClusterSecretStore", conditions=conditions), CATALOG
    )
    (only,) = (problem for problem in problems.problems if problem.fatal)
    assert only.path == "spec.conditions[1].namespaceRegexes[1]"
    assert only.message.startswith(
        "failed to compile 1th namespace regex in 1th condition: error parsing regexp"
    )


@pytest.mark.parametrize(
    ("pattern", "accepted"),
    [
        pytest.param(r"a\C", False, id="a byte, which only RE2 knows"),
        pytest.param(r"\\C", True, id="a backslash before the letter"),
        pytest.param(r"\Qa\C\E", True, id="quoted"),
        pytest.param(r"(?<name>a)", True, id="a named group"),
        pytest.param(r"a{1001}", False, id="too many repeats"),
    ],
)
def test_patterns_of_namespaces_are_those_of_go(pattern: str, *, accepted: bool) -> None:
    given = store(
        {"vault": {"server": "x"}}, kind="ClusterSecretStore", conditions=[{"namespaceRegexes": [pattern]}]
    )
    assert admit(given, CATALOG).accepted == accepted


def test_a_store_passes_its_providers_own_check() -> None:
    fake = {"fake": {"data": [{"key": "a", "value": "b"}, {"key": "c", "value": ""}]}}
    assert messages(admit(store(fake), CATALOG).problems) == [
        UNMAINTAINED,
        "spec.provider.fake.data[1].value: must be set (default)",
    ]
    assert messages(admit(store(fake, kind="ClusterSecretStore"), CATALOG).problems) == [
        UNMAINTAINED,
        "spec.provider.fake.data[1].value: must be set ()",
    ]


def test_a_store_without_spec_has_no_backend() -> None:
    assert messages(admit(document("SecretStore"), CATALOG).problems) == [
        "spec.provider: secret stores must only have exactly one backend specified, found 0"
    ]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        pytest.param({"storeRef": {"name": "s"}}, [], id="by name"),
        pytest.param({"storeRef": {"labelSelector": {}}}, [], id="by label"),
        pytest.param(
            {}, ["spec.dataTo[0]: storeRef must specify either name or labelSelector"], id="no store"
        ),
        pytest.param(
            {
                "storeRef": {"name": "s"},
                "remoteKey": "k",
                "rewrite": [{"regexp": {"source": "a", "target": "b"}}],
            },
            [
                (
                    "spec.dataTo[0]: remoteKey and rewrite are mutually exclusive: rewrite is only "
                    "supported in per-key mode (without remoteKey)"
                )
            ],
            id="bundle and rewrite",
        ),
        pytest.param({"storeRef": {"name": "s"}, "remoteKey": "k", "rewrite": []}, [], id="bundle"),
        pytest.param(
            {"storeRef": {"name": "s"}, "rewrite": [{"merge": EMPTY}]},
            [
                "?spec.dataTo[0].rewrite[0].merge: unknown field, it is dropped",
                "spec.dataTo[0].rewrite[0]: exactly one of regexp or transform must be set",
            ],
            id="merge is no rewrite of a push",
        ),
    ],
)
def test_many_values_to_push(entry: Document, expected: list[str]) -> None:
    assert messages(admit(push_secret(dataTo=[entry]), CATALOG).problems) == expected


def test_windows_and_patterns_are_few() -> None:
    """Each window is looked through whenever the object is due, and each pattern takes long to compile."""
    windows = [{"schedule": f"{n % 60} 0 31 2 *", "duration": "1h"} for n in range(201)]
    problems = admit(external_secret(syncWindows={"kind": "deny", "windows": windows}), CATALOG).problems
    assert messages(problems) == ["spec.syncWindows.windows: must have at most 200 items, has 201"]
    assert not admit(
        external_secret(syncWindows={"kind": "deny", "windows": windows[:200]}), CATALOG
    ).problems

    conditions = [{"namespaceRegexes": [f"^{n}-{part}$" for n in range(51)]} for part in "ab"]
    store_problems = admit(store(kind="ClusterSecretStore", conditions=conditions), CATALOG).problems
    assert "spec.conditions: has more than 100 regular expressions" in messages(store_problems)
