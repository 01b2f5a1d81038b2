"""Where tests stand: the unit tests of a module are found from its path alone."""

from pathlib import Path

ROOT = Path(__file__).parents[3]
UNIT = ROOT / "tests" / "unit"


def test_the_unit_tests_mirror_the_tree() -> None:
    folders = {file.parent.relative_to(UNIT) for file in UNIT.rglob("test_*.py")}

    assert folders
    assert sorted(map(str, (folder for folder in folders if not (ROOT / folder).is_dir()))) == []


def test_every_test_stands_in_one_of_the_trees() -> None:
    tests = [file.relative_to(ROOT / "tests") for file in (ROOT / "tests").rglob("test_*.py")]

    assert {file.parts[0] for file in tests} == {"faults", "real", "suites", "support", "unit"}
