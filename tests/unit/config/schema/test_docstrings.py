"""Docstrings below fields: how they are read, and what there is without a source."""

import sys
from importlib import import_module
from pathlib import Path
from zipfile import ZipFile

import pytest

from syncret.config.fields import Model
from syncret.config.schema.docstrings import ABSENT, Description, described


class Address(Model):
    """Where a server is.

    What follows the first paragraph is for developers.

    Example: {host: a.example, port: 443}
    """

    host: str
    """The name, or
    the address.
    Example: vault.example.com"""
    port: int = 443
    path: str = ""
    r"""A pattern of paths. Example: '\d+'"""


class Secure(Address):
    """Where a server with TLS is."""

    port: int = 8443
    """Its port.

    Example:
      8444
    """
    server_name: str = ""
    """The name in the certificate."""


class Broken(Model):
    """Its example cannot be read."""

    names: tuple[str, ...] = ()
    """Some names. Example: [a"""


def test_a_field_has_a_paragraph_and_an_example() -> None:
    assert described(Address).fields == {
        "host": Description("The name, or the address.", "vault.example.com"),
        "path": Description("A pattern of paths.", r"\d+"),
    }


def test_a_class_has_its_first_paragraph_and_an_example() -> None:
    assert described(Address).model == Description("Where a server is.", {"host": "a.example", "port": 443})


def test_fields_are_inherited_and_named_as_in_a_document() -> None:
    found = described(Secure)
    assert found.model == Description("Where a server with TLS is.", ABSENT)
    assert found.fields["host"].text == "The name, or the address."
    assert found.fields["port"] == Description("Its port.", 8444)
    assert found.fields["serverName"] == Description("The name in the certificate.", ABSENT)


def test_what_is_no_yaml_is_no_example() -> None:
    assert described(Broken).fields["names"] == Description("Some names.", ABSENT)


SOURCE = b"""
from syncret.config.fields import Model

class Packed(Model):
    '''In a wheel that is not unpacked.'''

    name: str
    '''Its name. Example: a'''
"""


def test_a_source_in_a_zip_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("packed_models.py", SOURCE)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "packed.zip"), *sys.path])
    packed = described(import_module("packed_models").Packed)
    assert packed.model.text == "In a wheel that is not unpacked."
    assert packed.fields == {"name": Description("Its name.", "a")}


def test_without_a_source_there_are_no_descriptions() -> None:
    made: dict[str, type[Model]] = {}
    exec("class Made(Model):\n    '''Text.'''\n    a: str\n    '''Text.'''", {"Model": Model}, made)  # noqa: S102
    assert described(made["Made"]) == (Description(), {})
