"""Documents that are damaged at random: every mistake is a problem, and with one nothing is rendered."""

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from syncret.config.fields import Json
from syncret.config.manifests.loader import load_bytes
from syncret.config.meta import Document, is_list, is_object
from syncret.daemon.release.compiler import Refusal, declared, parse, rendered, resolved
from syncret.daemon.release.lint import Linter
from syncret.daemon.release.report import problems_of, report
from syncret.daemon.release.skeleton import skeleton
from syncret.providers.values import SecretBytes
from tests.support.canary import CANARY, leaks

CASES = Path(__file__).parents[3] / "suites" / "corpus" / "cases" / "sensitive.yaml"
LEAF = {"$opm": "secret", "$secretName": "s", "$dataKey": "k"}
JUNK: list[Json] = [
    *(None, True, 0, -1, 1.5, "", "x", [], {}, [None], [{}], [[]], {"": 1}, {"a.b": {"$x": 1}}),
    *("config.db", "config.db.password", "${config.db}", "@env(X)", "@x(", "a" * 300),
    *(LEAF, {**LEAF, "value": "v"}, {"$opm": "secret"}, {"$opm": ["x"]}, {"$type": "int"}, {"$type": {}}),
    *({"from": {}}, {"name": []}, {"value": {"value": 1}}, {"source": []}, {"path": {}, "remoteKey": []}),
]
NAMES = (
    "$opm",
    "$secretName",
    "$type",
    "$optional",
    "value",
    "source",
    "from",
    "env",
    "config",
    "x",
    "",
    "a b",
)


def places(value: Json, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to every value in a document."""
    if path:
        yield path
    members: list[tuple[str | int, Json]] = []
    if is_object(value):
        members = list(value.items())
    elif is_list(value):
        members = list(enumerate(value))
    for name, member in members:
        yield from places(member, (*path, name))


def damage(documents: Document, chance: random.Random) -> None:
    """Replace a value, or rename a field."""
    *above, last = chance.choice(list(places(documents)))
    holder: Json = documents
    for step in above:
        holder = holder[step]
    if above and is_object(holder) and chance.random() < 0.3:
        holder[chance.choice(NAMES)] = holder.pop(str(last))
    elif is_object(holder):
        holder[str(last)] = copy.deepcopy(chance.choice(JUNK))
    elif is_list(holder):
        holder[int(last)] = copy.deepcopy(chance.choice(JUNK))


def documents_of(case: Document) -> Document:
    options: Document = case.get("options") or {}
    kind = "ResolvedRelease" if options.get("resolved") else "Module"
    version, named = "syncret.dev/v1alpha1", {"name": "app"}
    specs = [(kind, case["module"]), ("Release", {"values": case["values"]})]
    specs.append(("Platform", options.get("platform", {})))
    return {
        name: {"apiVersion": version, "kind": name, "metadata": dict(named), "spec": spec}
        for name, spec in specs
    }


def planted(value: Json) -> Json:
    """The values of a user, with the canary in each literal."""
    if is_object(value):
        return {
            name: CANARY if name == "value" and isinstance(member, str) else planted(member)
            for name, member in value.items()
        }
    return [planted(item) for item in value] if is_list(value) else value


@pytest.mark.parametrize("seed", range(4))
def test_damaged_documents_end_in_problems(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  # repeats itself
    cases = yaml.load(CASES.read_text(encoding="utf-8"), yaml.CSafeLoader)["cases"]
    told = 0
    for _ in range(150):
        case = copy.deepcopy(chance.choice(cases))
        case["values"] = planted(case["values"])
        documents = documents_of(case)
        for _ in range(chance.choice([1, 1, 2, 3])):
            damage(documents, chance)
        texts = [json.dumps(each).encode() for each in documents.values() if is_object(each)]
        loaded = [each for text in texts for each in load_bytes("all.json", text)]
        parsed = parse(loaded)
        answers: list[SecretBytes | Refusal] = [
            SecretBytes(CANARY.encode() + b"\xff"),
            Refusal("nobody answers"),
        ]
        parsed = resolved(parsed, {field.label: chance.choice(answers) for field, _ in parsed.tags})
        result = rendered(parsed)
        problems = problems_of(parsed)
        failed = any(problem.fatal for _, problem in problems)
        assert failed == (not result.items), documents
        assert all(problem.line for _, problem in problems if problem.path), documents
        assert all(problem.hint for _, problem in problems if problem.message != "nobody answers"), problems
        told_of = json.dumps(report(parsed, result, show_values=False))
        module = declared(loaded)
        Linter(module.findings).check(module.config, None)
        told_of += skeleton(module.documents.name, module.config, module.requires)
        told_of += "".join(map(str, module.problems))
        assert leaks("what is printed", told_of) == [], documents
        told += failed
    assert 0 < told < 150
