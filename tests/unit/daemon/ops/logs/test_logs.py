"""Logs: both forms, and that no value gets through, however it was passed."""

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
import structlog

from syncret.config.errors import Problem
from syncret.config.meta import ObjectRef
from syncret.daemon.ops import logs
from syncret.providers.errors import Denied
from syncret.providers.pushes import PushItem
from syncret.providers.values import SecretBytes
from tests.support.logs import logging_restored

CANARY = "hunter2-canary"
REF = ObjectRef("external-secrets.io", "ExternalSecret", "default", "database")
FORMS = pytest.mark.parametrize("form", ["console", "json"])


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _undone() -> Iterator[None]:
    with logging_restored():
        yield


def logged(form: str, level: str = "info") -> StringIO:
    out = StringIO()
    logs.configure(level, form, out)
    return out


def test_json_is_one_object_a_line() -> None:
    out = logged("json")
    log = structlog.get_logger()
    log.info("synced", object=REF, keys=["a", "b"], problem=Problem(path="spec", message="wrong"))
    log.warning("late", seconds=1.5)
    first, second = [json.loads(line) for line in out.getvalue().splitlines()]
    assert first["event"] == "synced"
    assert first["level"] == "info"
    assert first["timestamp"].endswith("Z")
    assert first["object"] == "ExternalSecret/default/database"
    assert first["keys"] == ["a", "b"]
    assert first["problem"] == "spec: wrong"
    assert second["seconds"] == 1.5


def test_console_is_for_people() -> None:
    out = logged("console")
    structlog.get_logger().info("synced", object=REF)
    assert "synced" in out.getvalue()
    assert "object=ExternalSecret/default/database" in out.getvalue()
    assert "\x1b" not in out.getvalue()


@pytest.mark.parametrize(("stream", "form"), [(Terminal(), "console"), (StringIO(), "json")])
def test_auto_looks_at_the_stream(stream: StringIO, form: str) -> None:
    logs.configure("info", "auto", stream)
    structlog.get_logger().info("hello")
    assert stream.getvalue().startswith("{") is (form == "json")


@pytest.mark.parametrize(
    ("environment", "colors"),
    [
        pytest.param({"TERM": "xterm"}, True, id="terminal"),
        pytest.param({"TERM": "xterm", "NO_COLOR": ""}, True, id="empty-NO_COLOR"),
        pytest.param({"TERM": "xterm", "NO_COLOR": "1"}, False, id="NO_COLOR"),
        pytest.param({"TERM": "dumb"}, False, id="dumb"),
    ],
)
@pytest.mark.parametrize("form", ["auto", "console"])
def test_colours_are_for_terminals_that_want_them(
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    colors: bool,  # noqa: FBT001  # a column
    form: str,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    stream = Terminal()
    logs.configure("info", form, stream)
    structlog.get_logger().info("hello")
    assert not stream.getvalue().startswith("{")
    assert ("\x1b" in stream.getvalue()) is colors


def test_the_level_is_kept() -> None:
    out = logged("json", "warning")
    structlog.get_logger().info("chatter")
    structlog.get_logger().error("news")
    assert [json.loads(line)["event"] for line in out.getvalue().splitlines()] == ["news"]


PASSED: list[Any] = [
    pytest.param(SecretBytes(CANARY.encode()), id="SecretBytes"),
    pytest.param(CANARY.encode(), id="bytes"),
    pytest.param(bytearray(CANARY.encode()), id="bytearray"),
    pytest.param({"inner": [CANARY.encode()]}, id="nested-bytes"),
    pytest.param({"inner": (SecretBytes(CANARY.encode()),)}, id="nested-SecretBytes"),
    pytest.param({CANARY.encode()}, id="set"),
    pytest.param(PushItem("key", "", SecretBytes(CANARY.encode()), source={"data": CANARY}), id="PushItem"),
    pytest.param(ValueError(CANARY), id="foreign-error"),
]


@FORMS
@pytest.mark.parametrize("value", PASSED)
def test_a_value_passed_by_mistake_stays_hidden(form: str, value: object) -> None:
    out = logged(form)
    structlog.get_logger().info("oops", value=value)
    assert "oops" in out.getvalue()
    assert CANARY not in out.getvalue()


def fail(value: str) -> None:
    local = value
    raise ValueError(f"cannot use {local}")


@FORMS
def test_an_error_is_its_class_and_its_places(form: str) -> None:
    out = logged(form)
    try:
        fail(CANARY)
    except ValueError:
        structlog.get_logger().exception("bug")
    assert CANARY not in out.getvalue()
    assert "ValueError" in out.getvalue()
    assert "in fail" in out.getvalue()


def test_our_own_errors_keep_their_words() -> None:
    out = logged("json")
    structlog.get_logger().warning("not synced", exc_info=Denied("the token was refused"))
    assert json.loads(out.getvalue())["error"] == "the token was refused"


@FORMS
def test_libraries_are_heard_without_their_arguments(form: str) -> None:
    out = logged(form)
    try:
        fail(CANARY)
    except ValueError:
        logging.getLogger("library").exception("request to %s failed", CANARY)
    logging.getLogger("library").info("chatter")
    assert "request to %s failed" in out.getvalue()
    assert "library" in out.getvalue()
    assert CANARY not in out.getvalue()
    assert "chatter" not in out.getvalue()


async def test_errors_of_the_loop_are_told_without_their_text() -> None:
    out = logged("json")
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(logs.on_loop_error)
    loop.call_soon(fail, CANARY)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    (event,) = [json.loads(line) for line in out.getvalue().splitlines()]
    assert event["error"] == "ValueError"
    assert CANARY not in out.getvalue()


async def test_a_repeated_error_of_the_loop_does_not_flood_the_log() -> None:
    out = logged("json")
    loop = asyncio.get_running_loop()
    for number in range(1000):
        context = {
            "message": "socket.accept() out of system resource",
            "exception": OSError(24, f"no {number}"),
        }
        logs.on_loop_error(loop, context)
        logging.getLogger("library").error("failed %d times", number)
    logs.on_loop_error(loop, {"message": "something else"})
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line.get("said", line["event"]) for line in lines] == [
        "socket.accept",
        "failed %d times",
        "something else",
    ]


@FORMS
def test_what_steers_a_terminal_is_escaped(form: str) -> None:
    out = logged(form)
    structlog.get_logger().error("kind \x1b[2J\nall is well", name="\x1b[31m")
    assert out.getvalue().count("\n") == 1
    assert "\x1b[2J" not in out.getvalue()
    assert "\x1b[31m" not in out.getvalue()


@pytest.mark.parametrize(
    ("form", "pattern"),
    [
        ("epoch", r"\d{10}\.\d+"),
        ("millis", r"\d{13}\.\d+"),
        ("nano", r"\d{19}"),
        ("iso8601", r'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"'),
        ("rfc3339", r'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"'),
        ("rfc3339nano", r'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"'),
    ],
)
def test_the_form_of_the_time(form: str, pattern: str) -> None:
    out = StringIO()
    logs.configure("info", "json", out, time=form)
    structlog.get_logger().info("hello")
    assert re.search(rf'"timestamp": {pattern}[,}}]', out.getvalue()), out.getvalue()
