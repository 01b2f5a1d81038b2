"""The package list, computed from the tree; everything else about the package is in pyproject.toml."""

from setuptools import find_packages, setup

ROOMS = ("config", "providers", "daemon")

setup(
    packages=[
        f"syncret.{name}"
        for room in ROOMS
        for name in (room, *(f"{room}.{sub}" for sub in find_packages(room)))
    ]
)
