"""Clusters, vectors and gazetteers for templates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dropchain import _data
from dropchain._dropchain import Tagger, Template


class Knowledge:
    """The files of external resources, and how they are used."""

    def __init__(
        self, clusters: Any, vectors: Any, gazetteers: Any, cluster_count: int, vector_count: int
    ) -> None:
        given = {"clusters": clusters, "vectors": vectors, "gazetteers": gazetteers}
        self.by_kind: dict[str, list[str]] = {}
        for kind, value in given.items():
            self.by_kind[kind] = [] if value is None else _data.paths(value)
            if value is not None and not self.by_kind[kind]:
                raise TypeError(f"{kind}: expected a path or a list of paths")
        self.counts = {"cluster_count": cluster_count, "vector_count": vector_count}

    @property
    def files(self) -> list[str]:
        """All files."""
        return [file for files in self.by_kind.values() for file in files]

    def attach(
        self,
        template: Template | None,
        base: Tagger | None,
        columns: str | Iterable[str] | None,
        memory: int | None,
    ) -> Template | None:
        """Return the template, or that of the model that training continues from, with lines for
        the files."""
        if not self.files:
            return template
        if template is None and base is not None:
            template = base.template
        if template is None:
            kinds = ", ".join(kind for kind, files in self.by_kind.items() if files)
            raise ValueError(f"{kinds}: these are added to a template; expected template")
        arguments = {**self.by_kind, **self.counts, "columns": columns, "memory": memory}
        return template._with_knowledge(arguments)
