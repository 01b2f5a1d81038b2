"""Pairs of SSH keys that OpenSSH takes."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from shutil import which
from typing import TypeVar

import pytest
from cryptography.hazmat.primitives.serialization import load_ssh_private_key, load_ssh_public_key

from syncret.providers.errors import Malformed, OverBudget
from syncret.providers.generators.ssh_key import SSHKeySpec, generate, make_pair
from syncret.providers.work import Work
from tests.support.opened import context

T = TypeVar("T")

SPECS = [
    pytest.param(SSHKeySpec(), "ssh-rsa", id="rsa is the default"),
    pytest.param(SSHKeySpec(key_type="ecdsa"), "ecdsa-sha2-nistp256", id="ecdsa"),
    pytest.param(
        SSHKeySpec(key_type="ecdsa", key_size=521, comment="a b"), "ecdsa-sha2-nistp521", id="ecdsa 521"
    ),
    pytest.param(
        SSHKeySpec(key_type="ecdsa", key_size=2048), "ecdsa-sha2-nistp256", id="ecdsa of no such size"
    ),
    pytest.param(
        SSHKeySpec(key_type="ed25519", key_size=384, comment="ops@example.com"), "ssh-ed25519", id="ed25519"
    ),
]


@pytest.mark.parametrize(("spec", "algorithm"), SPECS)
async def test_a_pair(spec: SSHKeySpec, algorithm: str, tmp_path: Path) -> None:
    values = (await generate(spec, context())).values
    private, public = values["privateKey"].raw, values["publicKey"].raw
    fields = public.decode().rstrip("\n").split(" ", maxsplit=2)

    assert public.endswith(b"\n")
    assert fields[0] == algorithm
    assert fields[2:] == ([spec.comment] if spec.comment else [])
    made = load_ssh_private_key(private, password=None).public_key()
    assert made == load_ssh_public_key(public)
    assert max(map(len, private.splitlines())) == 64
    if which("ssh-keygen"):
        assert public_key_of(private, tmp_path / "key") == public.decode().strip()


def public_key_of(private: bytes, path: Path) -> str:
    """The line that OpenSSH itself makes of a private key."""
    path.touch(mode=0o600)
    path.write_bytes(private)
    printed = subprocess.run(["ssh-keygen", "-y", "-f", str(path)], check=True, capture_output=True)
    return printed.stdout.decode().strip()


@pytest.mark.parametrize("length", range(9))
async def test_a_comment_of_any_length_is_padded_right(length: int) -> None:
    for _ in range(4):
        values = (await generate(SSHKeySpec(key_type="ecdsa", comment="x" * length), context())).values
        load_ssh_private_key(values["privateKey"].raw, password=None)


async def test_a_larger_rsa_key() -> None:
    values = (await generate(SSHKeySpec(key_size=3072), context())).values
    key = load_ssh_private_key(values["privateKey"].raw, password=None)

    assert getattr(key, "key_size", 0) == 3072


async def test_an_rsa_key_that_is_no_protection() -> None:
    with pytest.raises(Malformed, match="insecure"):
        await generate(SSHKeySpec(key_size=512), context())


async def test_a_comment_is_one_line() -> None:
    with pytest.raises(Malformed, match="one printable line"):
        await generate(SSHKeySpec(comment="x\nssh-rsa AAAA"), context())


class SmallKeys(Work):
    """Makes every key a small one, for those of 8192 bits take many seconds."""

    def apart(self, doing: str, function: Callable[..., T], *arguments: object) -> T:
        del arguments
        return super().apart(doing, function, 1024)


@pytest.mark.parametrize(("size", "count"), [(2048, 38), (4096, 11), (8192, 3)])
def test_a_sync_makes_a_few_long_keys(size: int, count: int) -> None:
    work = SmallKeys()
    for _ in range(count):
        make_pair(SSHKeySpec(key_size=size), work)
    with pytest.raises(OverBudget, match="workTime"):
        make_pair(SSHKeySpec(key_size=size), work)


def test_a_comment_pays_for_the_texts_that_it_is_part_of() -> None:
    """Fifty of a megabyte took the event loop half a second, and two hundred megabytes."""
    work = Work()
    make_pair(SSHKeySpec(key_type="ed25519", comment="a" * 1_000_000), work)
    assert work.memory < Work().memory - 5_000_000
    with pytest.raises(OverBudget):
        make_pair(SSHKeySpec(key_type="ed25519", comment="a" * 1_000_000), Work(memory=1_000_000))
