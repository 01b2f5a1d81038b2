"""Nested settings: one value in the file, the environment and on the command line, and how it is reported."""

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from syncret.config.errors import ConfigError
from syncret.config.settings import IN_CLUSTER, Group
from syncret.config.settings_layers import LayerValue, load_group, load_settings
from syncret.config.settings_table import describe


class Folder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    namespaces: tuple[str, ...] = ()


class Egress(Group, frozen=True):
    allow: tuple[str, ...] = ()
    """Who may be called."""
    max_size: Annotated[int, Meta(ge=1)] = 3
    """How much. Example: 5"""
    homes: tuple[Literal["host", "cluster"], ...] = ("host",)
    """Where."""


class All(Group, frozen=True):
    workers: int = 1
    """How many."""
    egress: Egress = Egress()
    manifests: Annotated[tuple[str | Folder, ...], Meta(extra={"form": "paths"})] = ()
    """What to read."""
    receivers: Annotated[dict[str, tuple[str, ...]], Meta(extra={"form": "map of lists"})] = {}
    """Who."""


def load(text: str = "", environ: dict[str, str] | None = None, *flags: tuple[str, str], folder: Path) -> All:
    file = folder / "syncret.yaml"
    file.write_text(text)
    given = [LayerValue(f"--set {name}", name, value) for name, value in flags]
    return load_group(All(), file, environ or {}, given)


@pytest.mark.parametrize(
    ("text", "environ", "flags"),
    [
        pytest.param("egress:\n  allow: [a, b]\n", {}, [], id="file"),
        pytest.param("", {"SYNCRET_EGRESS_ALLOW": "a, b"}, [], id="environment"),
        pytest.param("", {}, [("egress.allow", "a,b")], id="flag"),
        pytest.param("", {}, [("egress.allow", "[a, 'b']")], id="as-in-the-file"),
        pytest.param("egress: {allow: [c]}", {"SYNCRET_EGRESS_ALLOW": "a,b"}, [], id="environment-wins"),
        pytest.param("", {"SYNCRET_EGRESS_ALLOW": "c"}, [("egress.allow", "a,b")], id="flag-wins"),
    ],
)
def test_one_setting_in_every_layer(
    tmp_path: Path, text: str, environ: dict[str, str], flags: list[tuple[str, str]]
) -> None:
    settings = load(text, environ, *flags, folder=tmp_path)
    assert settings == All(egress=Egress(allow=("a", "b")))


def test_layers_are_merged_setting_by_setting(tmp_path: Path) -> None:
    settings = load(
        "egress: {maxSize: 5}\nworkers: 2\n",
        {"SYNCRET_EGRESS_HOMES": "cluster"},
        ("egress.allow", ""),
        folder=tmp_path,
    )
    assert settings == All(workers=2, egress=Egress(max_size=5, homes=("cluster",)))


@pytest.mark.parametrize("empty", ["egress:\n", "egress: {}\n", "egress: {allow: }\n"])
def test_an_empty_group_changes_nothing(tmp_path: Path, empty: str) -> None:
    assert load(empty, folder=tmp_path) == All()


@pytest.mark.parametrize(
    ("text", "environ"),
    [
        pytest.param("manifests:\n- /a\n- {path: /b, namespaces: [x]}\n", {}, id="file"),
        pytest.param("", {"SYNCRET_MANIFESTS": "[/a, {path: /b, namespaces: [x]}]"}, id="environment"),
    ],
)
def test_a_list_may_hold_objects(tmp_path: Path, text: str, environ: dict[str, str]) -> None:
    assert load(text, environ, folder=tmp_path).manifests == ("/a", Folder("/b", ("x",)))


@pytest.mark.parametrize(
    ("text", "environ"),
    [
        pytest.param("receivers: {vault: [https://a, https://b]}", {}, id="file"),
        pytest.param("", {"SYNCRET_RECEIVERS": "{vault: [https://a, https://b]}"}, id="environment"),
    ],
)
def test_a_map_of_lists(tmp_path: Path, text: str, environ: dict[str, str]) -> None:
    assert load(text, environ, folder=tmp_path).receivers == {"vault": ("https://a", "https://b")}


def test_an_entry_of_a_map_is_set_alone(tmp_path: Path) -> None:
    settings = load(
        "receivers: {vault: [a], azurekv: [b], ibm: [c]}",
        {"SYNCRET_RECEIVERS_AZUREKV": "d,e"},
        ("receivers.ibm", "f"),
        folder=tmp_path,
    )
    assert settings.receivers == {"vault": ("a",), "azurekv": ("d", "e"), "ibm": ("f",)}


@pytest.mark.parametrize(
    ("text", "environ", "flags", "expected"),
    [
        pytest.param(
            "workers: 1\negress:\n  alow: [a]\n",
            {},
            [],
            "FILE:3: egress.alow: there is no such setting (did you mean egress.allow?)",
            id="unknown-member",
        ),
        pytest.param(
            "",
            {},
            [("egres.allow", "a")],
            "--set egres.allow: there is no such setting (did you mean egress.allow?)",
            id="unknown-group",
        ),
        pytest.param(
            "egress: [a]\n",
            {},
            [],
            "FILE:1: egress: is a group of settings "
            "(write one of egress.allow, egress.maxSize, egress.homes)",
            id="group-as-a-value",
        ),
        pytest.param(
            "egress.allow: [a]\n",
            {},
            [],
            'FILE:1: ["egress.allow"]: there is no such setting (did you mean egress.allow?)',
            id="dotted-in-the-file",
        ),
        pytest.param(
            "egress:\n  maxSize: 0\n",
            {},
            [],
            "FILE:2: egress.maxSize: must be a whole number of at least 1 (How much.)",
            id="out-of-range",
        ),
        pytest.param(
            "",
            {"SYNCRET_EGRESS_HOMES": "host,moon"},
            [],
            "SYNCRET_EGRESS_HOMES: egress.homes[1]: invalid enum value 'moon' "
            "(write a list of host, cluster)",
            id="element",
        ),
        pytest.param(
            "manifests:\n- /a\n- path: /b\n  kinds: x\n",
            {},
            [],
            "FILE:3: manifests[1]: object contains unknown field `kinds` (write a list of files and folders, "
            "each as PATH or as {path: PATH, namespaces: [NAME, ...], kinds: [KIND, ...]})",
            id="member-of-an-element",
        ),
        pytest.param("", {"SYNCRET_EGRESS_ALLOW": "[a"}, [], None, id="broken-flow-style"),
        pytest.param(
            "receivers:\n  vault:\n  - a\n  - 1\n",
            {},
            [],
            "FILE:4: receivers.vault[1]: must be text (Who.)",
            id="entry-of-a-map",
        ),
    ],
)
def test_problems_name_the_dotted_setting_and_its_line(
    tmp_path: Path, text: str, environ: dict[str, str], flags: list[tuple[str, str]], expected: str | None
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(text, environ, *flags, folder=tmp_path)
    (problem,) = [str(each).replace(str(tmp_path / "syncret.yaml"), "FILE") for each in caught.value.problems]
    assert problem == expected or (
        expected is None and problem.startswith("SYNCRET_EGRESS_ALLOW: egress.allow: ")
    )


def test_groups_are_described_by_dotted_names() -> None:
    rows: list[Any] = [(each.name, each.variable, each.syntax, each.default) for each in describe(All)]
    assert rows == [
        ("workers", "SYNCRET_WORKERS", "whole number", "1"),
        ("egress.allow", "SYNCRET_EGRESS_ALLOW", "list", "[]"),
        ("egress.maxSize", "SYNCRET_EGRESS_MAX_SIZE", "whole number", "3"),
        ("egress.homes", "SYNCRET_EGRESS_HOMES", "list of host, cluster", "[host]"),
        ("manifests", "SYNCRET_MANIFESTS", "paths", "[]"),
        ("receivers", "SYNCRET_RECEIVERS", "map of lists", "{}"),
    ]


def test_a_word_for_a_number_is_said_so_in_words() -> None:
    with pytest.raises(ConfigError, match="--set workers: must be a whole number"):
        load_settings(None, {}, [LayerValue("--set workers", "workers", "many")])


def test_in_a_cluster_emptied_variables_of_the_image_are_no_mistake() -> None:
    cluster = LayerValue("--kubernetes", "kubernetes", True)  # noqa: FBT003  # a value
    image = {"SYNCRET_MANIFESTS": "/manifests", "SYNCRET_OUTPUT_DIR": "/secrets"}
    with pytest.raises(ConfigError, match="has no meaning with kubernetes"):
        load_settings(None, image, [cluster])
    settings = load_settings(None, dict.fromkeys(image, ""), [cluster])
    assert (settings.manifests, settings.output_dir) == ((), "")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param({"outputDir": "/secrets"}, "none is named", id="files-without-a-namespace"),
        pytest.param({"selector": "app=shop"}, "for a sidecar", id="a-selector-without-files"),
        pytest.param({"reportStatus": "true"}, "for a sidecar", id="reported-without-files"),
        pytest.param(
            {"outputDir": "/secrets", "namespace": "shop", "leaderElection.enabled": "true"},
            "files of its own",
            id="an-election-of-sidecars",
        ),
        pytest.param(
            {"outputDir": "/secrets", "namespace": "shop", "selector": "app in shop"},
            r"must be text of another form \(write labels as for kubectl",
            id="no-selector",
        ),
    ],
)
def test_what_makes_no_sense_for_a_sidecar_is_said(given: dict[str, str], message: str) -> None:
    values = [
        LayerValue(f"--set {name}", name, text) for name, text in {"kubernetes": "true", **given}.items()
    ]
    with pytest.raises(ConfigError, match=message):
        load_settings(None, {}, values, defaults=IN_CLUSTER)


@pytest.mark.parametrize(
    "selector", ["", "app=shop", "app==a,tier!=b", "app in (a, b),!old", "a notin (b)", "a"]
)
def test_a_selector_is_written_as_for_kubectl(selector: str) -> None:
    given = {"kubernetes": "true", "outputDir": "/secrets", "namespace": "shop", "selector": selector}
    values = [LayerValue(f"--set {name}", name, text) for name, text in given.items()]
    assert load_settings(None, {}, values, defaults=IN_CLUSTER).selector == selector
