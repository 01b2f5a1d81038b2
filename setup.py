"""What is computed from the tree: the packages, and the description. All else is in pyproject.toml."""

import re
from pathlib import Path

from setuptools import find_packages, setup

ROOMS = ("config", "providers", "daemon")
LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?!\w+:)(?P<path>[^)#]*)(?:#[^)]*)?\)")


def described() -> str:
    """The README for a page without the tree: a link to a file names the file instead."""

    def named(link: re.Match[str]) -> str:
        text, path = link["text"], link["path"]
        return text if not path or text.strip("`") == path else f"{text} (`{path}`)"

    return LINK.sub(named, Path("README.md").read_text(encoding="utf-8"))


setup(
    packages=[
        f"syncret.{name}"
        for room in ROOMS
        for name in (room, *(f"{room}.{sub}" for sub in find_packages(room)))
    ],
    long_description=described(),
    long_description_content_type="text/markdown",
)
