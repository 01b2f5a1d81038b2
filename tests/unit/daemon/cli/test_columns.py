"""Tables on a terminal of any width, and where the output is none."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncret.daemon.cli.columns import VERDICTS, Column, Row, print_table
from syncret.daemon.cli.text_width import width_of
from tests.support.terminals import terminal

COLUMNS = (
    Column("KIND"),
    Column("NAME", "flexible", "middle"),
    Column("READY", is_verdict=True),
    Column("WHERE", "flexible", "start"),
    Column("STATUS", "message"),
    Column("REMEDY", "detail"),
)
GOOD = Row(("ExternalSecret", "default/app", "yes", "out/default/app/", "secret synced", "-"), is_usual=True)
MESSAGE = "spec.data[0]: team/db (property user) does not exist in SecretStore/vault"
NAME = "payments/a-name-that-goes-on-and-on-and-ends-with-db"
BAD = Row(("ExternalSecret", NAME, "NO", f"out/{NAME}/", MESSAGE, "correct the key"), VERDICTS[False].style)


def shown(
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    rows: Sequence[Row],
    *,
    columns: Sequence[Column] = COLUMNS,
    full: bool = False,
) -> str:
    with terminal(width) as screen, monkeypatch.context() as patch:
        patch.setattr("sys.stdout", screen.stream)
        patch.delenv("COLUMNS", raising=False)
        print_table(columns, rows, full=full)
    return screen.raw


@pytest.fixture(autouse=True)
def usual_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")


def test_what_fits_is_as_wide_as_its_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, 80, [GOOD]).splitlines() == [
        "KIND            NAME         READY  WHERE             STATUS",
        "ExternalSecret  default/app  yes    out/default/app/  secret synced",
    ]


def test_names_and_places_are_cut_and_the_message_goes_below(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, 80, [BAD, GOOD]).splitlines() == [
        "KIND            NAME                                     READY  WHERE",
        "ExternalSecret  payments/a-name-tha…on-and-ends-with-db  NO     …d-ends-with-db/",
        "    spec.data[0]: team/db (property user) does not exist in SecretStore/vault",
        "    remedy: correct the key",
        "ExternalSecret  default/app                              yes    out/default/app/",
    ]


def test_the_message_is_wrapped_beside_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    failing = BAD._replace(cells=("ExternalSecret", "default/lost", "NO", "-", MESSAGE, "correct the key"))
    assert shown(monkeypatch, 100, [failing, GOOD]).splitlines() == [
        "KIND            NAME          READY  WHERE             STATUS",
        "ExternalSecret  default/lost  NO     -                 spec.data[0]: team/db (property user) does",
        "                                                       not exist in SecretStore/vault",
        "    remedy: correct the key",
        "ExternalSecret  default/app   yes    out/default/app/  secret synced",
    ]


def test_a_full_table_wraps_names_and_cuts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, 80, [BAD], full=True).splitlines() == [
        "KIND            NAME                         READY  WHERE",
        "ExternalSecret  payments/a-name-that-goes-o  NO     out/payments/a-name-that-goe",
        "                n-and-on-and-ends-with-db           s-on-and-on-and-ends-with-db",
        "                                                    /",
        "    spec.data[0]: team/db (property user) does not exist in SecretStore/vault",
        "    remedy: correct the key",
    ]


def test_names_are_not_cut_much_to_make_room_for_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "    spec.data[0]: team/db" in shown(monkeypatch, 120, [BAD])
    assert "STATUS" in shown(monkeypatch, 160, [BAD])


def test_a_short_message_stays_beside_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = (Column("PROVIDER"), Column("NOTE", "message"))
    rows = [Row(("x" * 34, "spec only, not maintained upstream")), Row(("aws", ""))]
    assert shown(monkeypatch, 50, rows, columns=columns).splitlines() == [
        "PROVIDER                            NOTE",
        f"{'x' * 34}  spec only, not",
        "                                    maintained",
        "                                    upstream",
        "aws",
    ]


def test_a_long_message_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    row = BAD._replace(cells=(*BAD.cells[:4], "word " * 500, "-"))
    lines = shown(monkeypatch, 80, [row]).splitlines()
    assert len(lines) == 2 + 4
    assert lines[-1].endswith("…")
    assert shown(monkeypatch, 80, [row], full=True).count("word") == 500


def test_elsewhere_each_row_is_one_whole_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(COLUMNS, [BAD, GOOD])
    head, bad, good = capsys.readouterr().out.splitlines()
    assert re.split("  +", head) == [column.title for column in COLUMNS]
    assert re.split("  +", bad) == list(BAD.cells)
    assert good.endswith("secret synced" + " " * (len(MESSAGE) - len("secret synced")) + "  -")


def test_a_detail_that_no_row_has_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(COLUMNS, [GOOD])
    assert "REMEDY" not in capsys.readouterr().out


def test_what_steers_a_terminal_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    columns = (Column("NAME"), Column("STATUS", "message"))
    print_table(columns, [Row(("a\x1b[31m", "one\ntwo \u202e \x9b1m ü"))])
    assert capsys.readouterr().out.splitlines()[1] == "a\\x1b[31m  one\\ntwo \\u202e \\x9b1m ü"


def test_columns_of_wide_characters_are_even(capsys: pytest.CaptureFixture[str]) -> None:
    print_table((Column("NAME"), Column("READY")), [Row(("密码", "yes")), Row(("abcd", "NO"))])
    assert capsys.readouterr().out == "NAME  READY\n密码  yes\nabcd  NO\n"


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [
        pytest.param({"NO_COLOR": ""}, True, id="terminal"),
        pytest.param({"NO_COLOR": "1"}, False, id="NO_COLOR"),
        pytest.param({"NO_COLOR": "", "TERM": "dumb"}, False, id="dumb"),
    ],
)
def test_the_verdict_is_coloured_where_it_may_be(
    variables: dict[str, str], *, coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    text = shown(monkeypatch, 80, [BAD])
    assert ("\x1b[1;31mNO\x1b[0m" in text) == coloured
    assert ("\x1b" in text) == coloured


@given(
    width=st.integers(30, 240),
    cells=st.lists(st.tuples(*[st.text(max_size=300)] * len(COLUMNS)), max_size=3),
    full=st.booleans(),
)
def test_no_line_is_wider_than_the_terminal(width: int, cells: list[tuple[str, ...]], *, full: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        text = shown(patch, width, [Row(each) for each in cells], full=full)
    assert max(map(width_of, text.splitlines())) <= width
