"""The cases: read from the files of a corpus, with everything that a runner must know before it runs one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

import yaml

from syncret.config.fields import Json
from syncret.config.meta import Document, is_object
from tests.suites.corpus.runners.comparing import is_list, value_in

CASES: Final = Path(__file__).parents[1] / "cases"
OWN: Final = CASES / "own"

TO_COME: Final = frozenset[str]()
"""Features that cases wait for, as the product does not have them yet: take a name away when it has."""

# Every file of a corpus: what its cases need, and the lists that hold them (None: all of the file).
_FILES: Final[Mapping[str, tuple[str | None, tuple[str, ...] | None]]] = {
    "decode_convert.json": (None, None),
    "rewrite.json": (None, ("cases",)),
    "validation_cases.yaml": (None, ("cases",)),
    "externalsecret_cases.yaml": (None, ("cases", "cluster_external_secret_cases")),
    "pushsecret_cases.yaml": (None, ("cases",)),
    "gotemplate.json": (None, ("cases", "engine_cases")),
    "sprig.json": (None, ("cases",)),
    "exports.json": (None, ("cases", "spec_cases")),
    "operator_cases.yaml": (None, ("cases",)),
    "sensitive.yaml": (None, ("cases", "fetch_cases")),
}
_PROSE: Final = frozenset(
    {"format", "note", "notes", "meta", "defaults", "env", "go_reference", "data_typing"}
)
_NO_CASES: Final = frozenset({"function_set"})


@dataclass(frozen=True, eq=False)
class Case:
    """One case: the file and the list that it stands in, and its text."""

    file: str
    group: str
    id: str
    body: Mapping[str, Json] = field(repr=False)
    shared: Mapping[str, Json] = field(default_factory=dict[str, Json], repr=False)
    """What the list says for all of its cases."""
    own: bool = False
    """Whether it is one of this repository."""

    @property
    def family(self) -> str:
        """The row of the table."""
        if self.group == "cluster_external_secret_cases":
            name = "clusterexternalsecret"
        else:
            name = self.file.partition(".")[0].removesuffix("_cases")
        return f"{name} (own)" if self.own else name

    @property
    def uncertain(self) -> bool:
        return self.body.get("uncertain") is True

    @property
    def waits_for(self) -> str | None:
        """The feature to come without which the case cannot pass."""
        needed = _FILES[self.file][0] or _needed(self)
        return needed if needed in TO_COME else None


class Corpus(NamedTuple):
    """All cases of a run, and the files and lists that hold cases which nothing here runs."""

    cases: Sequence[Case]
    not_run: Sequence[str]


@cache
def corpus(configured: str | None) -> Corpus:
    """The cases of the folder that is configured, or those of the repository; then our own."""
    folder = Path(configured) if configured else CASES
    if not folder.is_dir():
        raise FileNotFoundError(f"SYNCRET_CORPUS: there is no folder {folder}")
    cases, not_run = list[Case](), list[str]()
    for path in [*_files(folder), *_files(OWN)]:
        read = _read(path, own=path.parent == OWN)
        cases += read.cases
        not_run += read.not_run
    return Corpus(cases, not_run)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix != ".md" and path != OWN)


def sample(cases: Sequence[Case], count: int) -> list[Case]:
    """So many of the cases, the same ones each time, whatever else the corpus holds."""
    drawn = sorted(cases, key=lambda case: blake2b(f"{case.file} {case.id}".encode()).digest())[:count]
    return [case for case in cases if case in drawn]


def _read(path: Path, *, own: bool) -> Corpus:
    if path.name not in _FILES:
        return Corpus([], [path.name])
    text = path.read_text(encoding="utf-8")
    document = json.loads(text) if path.suffix == ".json" else yaml.load(text, yaml.CSafeLoader)
    groups = _FILES[path.name][1]
    unknown = [name for name in document if groups is not None and name not in {*groups, *_PROSE, *_NO_CASES}]
    cases = [
        case
        for group in (document if groups is None else groups)
        if group not in _PROSE
        for case in _group(path.name, group, document.get(group, []), own=own)
    ]
    return Corpus(cases, [f"{name} of {path.name}" for name in unknown])


def _group(file: str, group: str, content: Json, *, own: bool) -> Iterator[Case]:
    """A list of cases, or lists of cases among what they have in common."""
    lists: Document = {group: content}
    shared: Document = {}
    if is_object(content):
        lists = {name: value for name, value in content.items() if name.endswith("cases")}
        shared = {name: value for name, value in content.items() if name not in lists}
    for name, bodies in lists.items():
        where = group if name in {group, "cases"} else f"{group}/{name}"
        for number, body in enumerate(bodies):
            yield Case(file, where, str(body.get("id", f"{where}-{number}")), body, shared, own)


def _needed(case: Case) -> str | None:
    """Whether a resource of the case is rendered by a template, here or in a rewrite.

    Admission looks at templates without rendering them, so what only it judges waits for nothing.
    """
    if case.file == "validation_cases.yaml" or value_in(case.body, "expect", "rejected_at_admission") is True:
        return None
    return "templates" if _renders(case.body) else None


def _renders(value: Json) -> bool:
    if is_object(value):
        return any(name in {"template", "transform"} or _renders(member) for name, member in value.items())
    if is_list(value):
        return any(map(_renders, value))
    return isinstance(value, str) and "{{" in value
