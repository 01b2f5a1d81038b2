"""Releases as large as is promised: 10,000 sensitive fields, and nesting of 200; values stay unseen."""

import json
from pathlib import Path
from typing import Any

import pytest

from syncret.config.meta import Document
from tests.real.e2e.process import syncret
from tests.support.canary import CANARY, leaks

pytestmark = pytest.mark.slow

FIELDS = 10_000
CONTAINERS = 50
DEPTH = 200


def leaf(name: str, number: int = 0) -> Document:
    return {"$opm": "secret", "$secretName": f"s{number % 20}", "$dataKey": name}


def nested(inner: Document) -> Document:
    """What is inside, below fields called `a`."""
    found = inner
    for _ in range(DEPTH):
        found = {"a": found}
    return found


def module(config: Document, containers: Document) -> Document:
    return {
        "apiVersion": "syncret.dev/v1alpha1",
        "kind": "Module",
        "metadata": {"name": "app"},
        "spec": {"config": config, "containers": containers},
    }


def run(folder: Path, module: Document, values: Document, *flags: str) -> tuple[int, dict[str, Any]]:
    """Exit code and report of the command, and of one that shows no values: these are the same."""
    (folder / "module.json").write_text(json.dumps(module))
    (folder / "values.json").write_text(json.dumps(values))
    given: tuple[str | Path, ...] = (
        "-f",
        folder / "module.json",
        "-f",
        folder / "values.json",
        "-o",
        "json",
        *flags,
    )
    done, shut = (syncret("release", *given, *more) for more in (("--show-values",), ()))
    assert leaks("the redacted report", shut.stdout + shut.stderr + done.stderr) == []
    report: dict[str, Any] = json.loads(done.stdout)
    assert json.loads(shut.stdout)["secrets"] == report["secrets"]
    assert shut.returncode == done.returncode
    return done.returncode, report


def test_ten_thousand_fields(tmp_path: Path) -> None:
    config = {f"f{number}": leaf(f"k{number}", number) for number in range(FIELDS)}
    values = {name: {"value": f"{CANARY}-{name}"} for name in config}
    containers = {
        f"c{place}": {
            "image": "x",
            "env": {f"F{n}": {"from": f"config.f{n}"} for n in range(place, FIELDS, CONTAINERS)},
        }
        for place in range(CONTAINERS)
    }
    code, report = run(tmp_path, module(config, containers), values)
    assert (code, report["problems"], len(report["secrets"])) == (0, [], FIELDS)
    secrets = [item for item in report["items"] if item["kind"] == "Secret"]
    assert (len(secrets), sum(len(each["data"]) for each in secrets)) == (20, FIELDS)
    (made,) = (item for item in report["items"] if item["kind"] == "Deployment")
    wired = [each["env"] for each in made["spec"]["template"]["spec"]["containers"]]
    assert (len(wired), {len(env) for env in wired}) == (CONTAINERS, {FIELDS // CONTAINERS})


def test_ten_thousand_mistakes_are_as_many_problems(tmp_path: Path) -> None:
    config = {f"f{number}": leaf(f"k{number}", number) for number in range(FIELDS)}
    values = dict.fromkeys(config, CANARY)
    code, report = run(tmp_path, module(config, {"c": {"image": "x"}}), values)
    assert (code, report["items"], len(report["problems"])) == (2, [], FIELDS)
    assert report["problems"][-1]["path"] == f"spec.values.f{FIELDS - 1}"


def test_nesting(tmp_path: Path) -> None:
    path = ".".join(["a"] * DEPTH)
    containers = {"c": {"image": "x", "env": {"P": {"from": f"config.{path}.password"}}}}
    code, report = run(
        tmp_path,
        module(nested({"password": leaf("password")}), containers),
        nested({"password": {"value": CANARY}}),
    )
    assert (code, report["problems"]) == (0, [])
    assert [each["path"] for each in report["secrets"]] == [f"spec.config.{path}.password"]
