"""The cache that manifests can fill: it is bounded in number and in bytes, and keeps what came last."""

from syncret.providers.kit.sized_cache import SizedCache


def kept(cache: SizedCache[int, str], keys: range) -> list[int]:
    return [key for key in keys if cache.get(key) is not None]


def test_the_oldest_go_when_there_are_too_many() -> None:
    cache = SizedCache[int, str](most=3, most_bytes=1000)
    for key in range(10):
        cache.add(key, "v", 1)
    assert kept(cache, range(10)) == [7, 8, 9]
    assert (len(cache), cache.size) == (3, 3)


def test_the_oldest_go_when_they_are_too_large_together() -> None:
    cache = SizedCache[int, str](most=100, most_bytes=100)
    for key in range(10):
        cache.add(key, "v", 40)
    assert kept(cache, range(10)) == [8, 9]
    assert cache.size == 80


def test_what_has_grown_counts_as_it_is_now() -> None:
    cache = SizedCache[int, str](most=100, most_bytes=100)
    cache.add(1, "v", 10)
    cache.add(2, "v", 10)
    cache.add(1, "v", 95)
    assert kept(cache, range(3)) == [1]
    assert cache.size == 95
    cache.add(1, "v", 101)
    assert (len(cache), cache.size) == (0, 0)
