from pathlib import Path
from typing import Final

from tests.suites.oracle.listed import DIFFERENCES

PAGE: Final = Path(__file__).parents[3] / "docs" / "reference" / "template-differences.md"


def test_every_difference_stands_in_the_documentation() -> None:
    rows = {line.split("|")[1].strip() for line in PAGE.read_text().splitlines() if line.startswith("| ")}
    assert rows - {"difference"} == set(DIFFERENCES)
    assert len(DIFFERENCES) <= 10
