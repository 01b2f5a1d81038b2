"""Files with tokens of the daemon itself."""

from pathlib import Path

import pytest

from syncret.providers.errors import Malformed
from syncret.providers.kit.ambient.files import token_file


def test_a_token_file_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("one\n")
    first = token_file(path)
    path.write_text("two\n")

    assert (first.raw, token_file(path).raw) == (b"one", b"two")


@pytest.mark.parametrize("content", [pytest.param(None, id="absent"), pytest.param("\n", id="empty")])
def test_a_token_file_without_a_token(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "token").write_text(content)
    with pytest.raises(Malformed, match=str(tmp_path / "token")):
        token_file(tmp_path / "token")
