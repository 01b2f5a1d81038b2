import tracemalloc

import pytest

from syncret.daemon.core.templating.golang.lexer import tokenize


@pytest.mark.parametrize(
    "literal",
    [
        pytest.param('"' + "a" * 500_000 + '"', id="string"),
        pytest.param('"' + r"\a" * 250_000 + '"', id="escapes"),
        pytest.param("'" + r"\'" * 250_000 + "'", id="character constant"),
        pytest.param("`" + "a" * 500_000 + "`", id="raw string"),
    ],
)
def test_a_long_literal_takes_little_more_memory_than_its_text(literal: str) -> None:
    text = f"{{{{ {literal} }}}}"
    tracemalloc.start()
    try:
        tokens = tokenize(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert tokens[2].text == literal
    assert peak < 3 * len(text)
