"""How wide text is, and how it is cut and wrapped: wide characters and marks count as on a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncret.config.visible import printable
from syncret.daemon.cli.text_width import Side, cut, width_of, wrap

RED = "\x1b[1;31mno\x1b[0m"


@pytest.mark.parametrize(
    ("text", "width"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("database", 8, id="ascii"),
        pytest.param("Schlüssel", 9, id="composed"),
        pytest.param("Schlu\u0308ssel", 9, id="combining-mark"),
        pytest.param("密码", 4, id="chinese"),
        pytest.param("\uff46\uff55", 4, id="full-width"),
        pytest.param("🔑", 2, id="emoji"),
        pytest.param("❤\ufe0f", 2, id="emoji-by-a-mark"),
        pytest.param("🇨🇭", 2, id="flag"),
        pytest.param("\u1112\u1161\u11ab", 2, id="hangul-of-parts"),
        pytest.param("пароль", 6, id="cyrillic"),
        pytest.param("…—", 2, id="ambiguous"),
        pytest.param(RED, 2, id="colour"),
    ],
)
def test_the_width_of_text(text: str, width: int) -> None:
    assert width_of(text) == width


@pytest.mark.parametrize(
    ("text", "width", "side", "expected"),
    [
        pytest.param("database", 8, "end", "database", id="fits"),
        pytest.param("database", 5, "end", "data…", id="end"),
        pytest.param("out/default/db/", 6, "start", "…t/db/", id="start"),
        pytest.param("team-a-payments-db", 9, "middle", "team…s-db", id="middle"),
        pytest.param("密码密码", 4, "end", "密…", id="no-half-character"),
        pytest.param("密码密码", 4, "start", "…码", id="no-half-character-at-the-start"),
        pytest.param("u\u0308u\u0308u\u0308", 2, "end", "u\u0308…", id="marks-stay-with-their-letter"),
        pytest.param("u\u0308u\u0308u\u0308", 2, "start", "…u\u0308", id="marks-stay-at-the-start"),
    ],
)
def test_what_is_cut(text: str, width: int, side: Side, expected: str) -> None:
    assert cut(text, width, side) == expected


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        pytest.param("", 5, [""], id="nothing"),
        pytest.param("does not exist", 8, ["does not", "exist"], id="words"),
        pytest.param("abcdefghij", 4, ["abcd", "efgh", "ij"], id="a-long-word"),
        pytest.param("a abcdefghij b", 4, ["a", "abcd", "efgh", "ij b"], id="a-long-word-among-others"),
        pytest.param(
            "at aaa-word-that-is-too-long", 14, ["at aaa-word-th", "at-is-too-long"], id="begins-at-once"
        ),
        pytest.param("密码 密码", 5, ["密码", "密码"], id="wide"),
        pytest.param(f"{RED}: gone", 4, [f"{RED}:", "gone"], id="colours-take-no-room"),
    ],
)
def test_what_is_wrapped(text: str, width: int, lines: list[str]) -> None:
    assert wrap(text, width) == lines


@given(text=st.text(), width=st.integers(2, 40), side=st.sampled_from(["start", "middle", "end"]))
def test_no_text_is_wider_than_asked_for(text: str, width: int, side: Side) -> None:
    shown = printable(text)
    lines = wrap(shown, width)
    assert width_of(cut(shown, width, side)) <= width
    assert max(map(width_of, lines)) <= width
    assert "".join(lines).replace(" ", "") == shown.replace(" ", ""), "nothing is lost"
