"""The CustomResourceDefinitions as part of an installation."""

from collections.abc import Iterator, Sequence
from typing import Any

from syncret.config.catalog import Catalog
from syncret.config.meta import is_list, is_object
from syncret.config.resources.kinds import Kinds
from syncret.config.schema.crds import crd
from syncret.daemon.install.metadata import i
from syncret.daemon.install.outline.nodes import Outline, all_of, given, has, not_, when


def crds(catalog: Catalog) -> Iterator[tuple[str, Outline]]:
    """The CRD of each kind, by the name of its resource."""
    kinds = Kinds(catalog)
    for name in kinds.names():
        kind = kinds.find(name)
        if kind is not None and kind.group:
            made = crd(kind, catalog), crd(kind, catalog, serve_v1beta1=True)
            for each in made:
                each["metadata"]["annotations"] = given(i.crds.annotations)
            yield kind.plural, when(all_of(i.crds, not_(has(i.crds.left_out, kind.kind))), _either(*made))


def crd_names(catalog: Catalog) -> Sequence[str]:
    """The names of the CRDs."""
    kinds = Kinds(catalog)
    known = [kinds.find(each) for each in kinds.names()]
    return sorted(f"{kind.plural}.{kind.group}" for kind in known if kind is not None and kind.group)


def _either(plain: Any, with_older: Any) -> Any:  # noqa: ANN401  # parts of documents
    """One outline of two documents that differ in whether the older version is served."""
    if plain == with_older:
        return plain
    if is_object(plain) and is_object(with_older) and plain.keys() == with_older.keys():
        return {name: _either(each, with_older[name]) for name, each in plain.items()}
    if is_list(plain) and is_list(with_older):
        return [_either(*both) for both in zip(plain, with_older, strict=True)]
    return when(i.crds.serve_v1beta1, with_older, plain)
