"""Runs cases of sensitive fields through `syncret release`, and compares manifests, problems and secrecy."""

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from syncret.config.fields import Json
from syncret.config.meta import Document, is_object
from syncret.config.text.yaml import to_yaml
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.comparing import Unknown, differences, is_list, knows

API_VERSION: Final = "syncret.dev/v1alpha1"
NAME: Final = "user-api"
_CASE: Final = ("id", "row", "module", "values", "options", "want")
_OPTIONS: Final = ("resolved", "platform", "args", "env", "files", "objects", "namespace")
_WANT: Final = ("manifests", "all", "warnings", "error", "path", "hint", "also", "redacted")


class Done(NamedTuple):
    """What one run of the command came to."""

    code: int
    out: str
    err: str


Run = Callable[[list[str], Mapping[str, str]], Done]


def mismatches(case: Case, folder: Path, run: Run) -> Iterator[str]:
    """Everything that is not as the case wants it."""
    body, want = case.body, case.body["want"]
    options: Document = body.get("options") or {}
    knows(body, _CASE, "case")
    knows(options, _OPTIONS, "options")
    knows(want, _WANT, "want")
    arguments = [*_documents(body, options, folder), *options.get("args", [])]
    environment = options.get("env", {})
    open_run = run([*arguments, "-o", "json", "--show-values"], environment)
    report = json.loads(open_run.out)
    problems = report["problems"]
    yield from _outcome(want, open_run, report)
    warnings = [each for each in problems if each["severity"] == "warning"]
    errors = [each for each in problems if each["severity"] == "error"]
    yield from _told(want.get("warnings", []), warnings, "warning")
    wanted = [{"path": want["path"], "hint": want["hint"]}, *want.get("also", [])] if "error" in want else []
    yield from _told(wanted, errors, "error")
    shut = [run([*arguments, "-o", form], environment) for form in ("json", "yaml")]
    if any(each.code != open_run.code for each in shut):
        yield "another exit code without --show-values"
    texts = [text for each in shut for text in (each.out, each.err)]
    if want.get("error"):
        texts += [open_run.out, open_run.err]
    for secret in want.get("redacted", []):
        for form in (secret, json.dumps(secret)[1:-1], b64encode(secret.encode()).decode()):
            if any(form in text for text in texts):
                yield f"{secret} is printed"


def _documents(body: Mapping[str, Json], options: Document, folder: Path) -> list[str]:
    kind = "ResolvedRelease" if options.get("resolved") else "Module"
    metadata: Document = {"name": NAME}
    documents: dict[str, list[Document]] = {
        "module.yaml": [{"kind": kind, "metadata": metadata, "spec": body["module"]}]
    }
    if body.get("values") is not None:
        named = metadata | ({"namespace": options["namespace"]} if "namespace" in options else {})
        spec = {"values": _repeated(body["values"])}
        documents["release.yaml"] = [{"kind": "Release", "metadata": named, "spec": spec}]
    elif "namespace" in options:
        documents["module.yaml"][0]["metadata"] = metadata | {"namespace": options["namespace"]}
    if "platform" in options:
        documents["platform.yaml"] = [
            {"kind": "Platform", "metadata": {"name": "p"}, "spec": options["platform"]}
        ]
    arguments: list[str] = []
    for name, given in documents.items():
        documents_of = [{"apiVersion": API_VERSION, **each} for each in given]
        arguments += ["-f", _written(folder / name, _text(documents_of))]
    if "objects" in options:
        arguments += ["-f", _written(folder / "objects.yaml", _text(options["objects"]))]
    for name, text in options.get("files", {}).items():
        _written(folder / name, text)
    return arguments


def _text(documents: Iterable[Document]) -> str:
    return "---\n".join(map(to_yaml, documents))


def _written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def _repeated(value: Json) -> Json:
    """The values, with each `{$repeat: [text, n]}` written out."""
    if is_object(value):
        if set(value) == {"$repeat"}:
            text, count = value["$repeat"]
            return text * count
        return {name: _repeated(member) for name, member in value.items()}
    return [_repeated(item) for item in value] if is_list(value) else value


def _outcome(want: Document, done: Done, report: Document) -> Iterator[str]:
    items = {f"{item['kind']}/{item['metadata']['name']}": item for item in report["items"]}
    if want.get("error"):
        if done.code not in {1, 2}:
            yield f"expected an error; came exit code {done.code}"
        if items:
            yield f"expected no items; came {', '.join(items)}"
        return
    if done.code:
        yield f"expected exit code 0; came {done.code}"
    if "all" in want and list(items) != want["all"]:
        yield f"expected {want['all']}; came {list(items)}"
    for manifest in want.get("manifests", []):
        name = f"{manifest['kind']}/{manifest['metadata']['name']}"
        if name in items:
            yield from _compared(manifest, items[name], name)
        else:
            yield f"expected {name}; there is none"


def _compared(expected: Json, came: Json, path: str) -> Iterator[str]:
    """As `differences`, but mappings inside of lists may hold more, too."""
    if is_object(expected) and is_object(came):
        for name, member in expected.items():
            if name in came:
                yield from _compared(member, came[name], f"{path}.{name}")
            else:
                yield f"expected {path}.{name} = {member!r}; there is none"
    else:
        yield from differences(expected, came, path)


def _told(wanted: list[Document], came: list[Document], what: str) -> Iterator[str]:
    """Exactly the wanted problems, by path; the hint is somewhere in what they say."""
    if sorted(each["path"] for each in wanted) != sorted(each["path"] for each in came):
        shown = [f"{each['path']}: {each['message']}" for each in came]
        yield f"expected {what}s at {[each['path'] for each in wanted]}; came {shown}"
        return
    for each in wanted:
        hint = each.get("hint")
        if not isinstance(hint, str):
            raise Unknown(f"the {what} at {each['path']} has no hint")
        said = " ".join(f"{one['message']} {one['hint']}" for one in came if one["path"] == each["path"])
        if hint.lower() not in said.lower():
            yield f"expected {hint!r} in the {what} at {each['path']}; came {said!r}"
