"""How tags are read: their kinds, their arguments, and what is no tag at all."""

import pytest

from syncret.daemon.release.model import Tag
from syncret.daemon.release.tags import TagError, read_tag


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("@env(NAME)", Tag("env", "NAME")),
        ('@env( "NAME" )', Tag("env", "NAME")),
        ("@file(a/b.txt)", Tag("file", "a/b.txt")),
        ('@file("a, (b) \\"c\\".txt", trim=true)', Tag("file", 'a, (b) "c".txt', trim=True)),
        ("@file(x, trim=false)", Tag("file", "x")),
        (
            '@secret(source=eso, path="secret/data/db", key=password)',
            Tag("secret", source="eso", path="secret/data/db", key="password"),
        ),
        (
            "@secret(store=team, path=db, key=pw)",
            Tag("secret", source="eso", store="team", path="db", key="pw"),
        ),
        ("@secret(source=k8s,path=s,key=k,)", Tag("secret", source="k8s", path="s", key="k")),
    ],
)
def test_a_tag_is_read(text: str, tag: Tag) -> None:
    assert read_tag(text) == tag


@pytest.mark.parametrize("text", ["", "x", "@", "@env", "@env(X", "x@env(X)", "@env(X) ", "@1(x)", "env(X)"])
def test_other_text_is_no_tag(text: str) -> None:
    assert read_tag(text) is None


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("@vault(x)", "secret"),
        ("@env()", "@env("),
        ("@env(A, B)", "@env("),
        ("@env(name=A)", "remove it"),
        ("@env(A\0B)", "remove it"),
        ("@file(x, trin=true)", "trim"),
        ("@file(x, trim=yes)", "trim=true"),
        ("@file(x, trim=true, trim=true)", "once"),
        ('@file("x)', "double quotes"),
        ('@file("\\q")', '\\"'),
        ("@secret(eso, path=a, key=b)", "path="),
        ("@secret(path=a, key=b)", "source=eso"),
        ("@secret(source=vault, path=a, key=b)", "source=eso"),
        ("@secret(source=eso, path=a)", "key="),
        ("@secret(source=eso, path=, key=b)", "path="),
        ("@secret(source=k8s, store=a, path=b, key=c)", "source=eso"),
        ("@secret(store=, path=b, key=c)", "platform"),
        ("@secret(source=eso, pth=a, key=b)", "path"),
    ],
)
def test_a_tag_that_cannot_be_used_has_a_remedy(text: str, hint: str) -> None:
    with pytest.raises(TagError) as raised:
        read_tag(text)
    assert hint in raised.value.hint


def test_long_arguments_are_read_in_one_pass() -> None:
    with pytest.raises(TagError):
        read_tag("@secret(" + "a=" * 100_000 + ")")
