"""What is imported is declared, what is declared is locked, and a lock names hashes but no place."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKS = ("build.txt", "runtime.txt", "dev.txt")


def normalized(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match, requirement
    return re.sub(r"[-_.]+", "-", match[0]).lower()


def locked(name: str) -> dict[str, str]:
    """Each release of a lock: name -> version."""
    text = (ROOT / "requirements" / name).read_text()
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+) \\$", text, re.MULTILINE))


def imported(node: ast.AST) -> Iterator[str]:
    """Top-level names that a module imports when it runs."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=orelse):
                yield from imported(ast.Module(orelse, []))
            case ast.Import(names=names):
                yield from (alias.name.partition(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]
            case _:
                yield from imported(child)


def test_the_product_imports_only_what_it_declares() -> None:
    project = PROJECT["project"]
    declared = chain(project["dependencies"], *project["optional-dependencies"].values())
    allowed = {normalized(requirement) for requirement in declared}
    distributions = packages_distributions()
    undeclared = {
        f"{path.relative_to(ROOT)}: {module}"
        for room in ("config", "daemon", "providers")
        for path in (ROOT / room).rglob("*.py")
        for module in imported(ast.parse(path.read_text()))
        if module not in sys.stdlib_module_names and module not in {"syncret", "uvloop"}
        if allowed.isdisjoint(map(normalized, distributions.get(module, [module])))
    }
    assert undeclared == set()


def test_each_declared_dependency_is_locked() -> None:
    project = PROJECT["project"]
    runtime = {
        normalized(requirement)
        for requirement in (*project["dependencies"], *project["optional-dependencies"]["aws"])
    }
    dev = {normalized(requirement) for requirement in PROJECT["dependency-groups"]["dev"]}
    assert runtime - locked("runtime.txt").keys() == set()
    assert dev - locked("dev.txt").keys() == set()


def test_the_locks_agree_with_each_other() -> None:
    build, runtime, dev = map(locked, LOCKS)
    for one, other in ((build, dev), (runtime, dev), (build, runtime)):
        both = one.keys() & other.keys()
        assert {name: one[name] for name in both} == {name: other[name] for name in both}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_holds_releases_and_hashes_and_no_address(name: str) -> None:
    release = re.compile(r"[a-z0-9-]+==[A-Za-z0-9.+]+ \\")
    digest = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")
    lines = (ROOT / "requirements" / name).read_text().splitlines()
    assert [line for line in lines if not release.fullmatch(line) and not digest.fullmatch(line)] == []
