"""Word clusters."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dropchain import _data, _docs, _dropchain, _files
from dropchain._frames import frame
from dropchain._progress import Progress

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]


@dataclass(frozen=True, repr=False, eq=False)
class Clusters:
    """Words with the clusters that :func:`dropchain.cluster` found for them.

    The path of a cluster is a string of bits; its prefixes are larger clusters.
    """

    count: int
    """The number of clusters."""
    mutual_information: float
    """The average mutual information of adjacent clusters, in bits."""
    words: list[tuple[str, str, int]]
    """All words: path, word, number of occurrences; those of a cluster together."""
    text: str
    """The lines of a cluster file, for ``Template(text, files={"paths.txt": clusters.text})``."""

    @cached_property
    def _paths(self) -> dict[str, str]:
        return {word: path for path, word, _ in self.words}

    def to_dict(self) -> dict[str, str]:
        """Return the path of each word."""
        return dict(self._paths)

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each word."""
        return frame(dict(zip(("path", "word", "count"), word)) for word in self.words)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write a file that ``cluster("…")`` in a template reads.

        A file that has no clusters is replaced only with `force`.
        """
        _files.save(self, path, force)

    def _save(self, path: str | os.PathLike[str]) -> None:
        _dropchain.write_file(path, self.text.encode())

    def __getitem__(self, word: str) -> str:
        return self._paths[word]

    def __contains__(self, word: str) -> bool:
        return word in self._paths

    def __len__(self) -> int:
        return len(self._paths)

    def __repr__(self) -> str:
        return f"<Clusters of {len(self)} words: {self.count}>"


def cluster(
    texts: Any,
    clusters: int = 256,
    *,
    min_count: int = 1,
    output: str | os.PathLike[str] | None = None,
    progress: bool | Any = False,
    threads: int | None = None,
    memory: int | None = None,
    force: bool = False,
    format: str | None = None,
    columns: str | Iterable[str] | None = None,
    comments: bool = False,
) -> Clusters:
    """Learn Brown clusters of words from unlabeled text, for ``cluster("…")`` in templates.

    Parameters
    ----------
    texts : path, list of paths, or sentences in a form that :class:`Corpus` takes
        Files are streamed; ``.txt`` is raw text. Labels are ignored.
    clusters : int
        The number of clusters, 2 to 10,000.
    min_count : int
        Ignore words that occur fewer times.
    output : path, optional
        Write the clusters to this file.
    progress : bool or class
        Show progress, with tqdm if it is installed or with a class like it.
    threads, memory, force, format, columns, comments
        See :func:`dropchain.train`.

    Examples
    --------
    >>> import dropchain
    >>> clusters = dropchain.cluster(dropchain.sample_corpus(), 8)
    >>> clusters
    <Clusters of 4197 words: 8>
    >>> template = dropchain.Template(
    ...     'word\\ncluster("paths.txt", 2, 4)\\n', files={"paths.txt": clusters.text}
    ... )
    """
    files = _data.paths(texts)
    if output is not None:
        _files.check_output("output", output, "cluster file", files, force=force)
    corpus = None
    if not files or any(_docs.is_file(file) for file in files):
        reading = {"format": format, "columns": columns, "comments": comments}
        corpus = _data.unlabeled(texts, features=False, **reading)
        files = []
    bar = Progress(progress) if progress else None
    try:
        result = _dropchain.cluster({
            "corpus": corpus,
            "paths": files,
            "clusters": clusters,
            "min_count": min_count,
            "format": format,
            "columns": columns,
            "comments": comments,
            "threads": threads,
            "memory": memory,
            "observer": None if bar is None else lambda n, of: bar.show("words", n, of),
        })
    finally:
        if bar is not None:
            bar.close()
    if output is not None:
        result._save(output)
    return result
