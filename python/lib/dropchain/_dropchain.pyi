"""Types of the extension module. Names that begin with an underscore may change."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, SupportsIndex, TypeAlias, final, overload

import numpy as np
import numpy.typing as npt
from typing_extensions import Self, disjoint_base

from dropchain._clusters import Clusters
from dropchain._explanation import Explanation
from dropchain._scores import Comparison, Evaluation
from dropchain._values import Path, Span, TaggedText, Tagging

_Path: TypeAlias = str | os.PathLike[str]
_Label: TypeAlias = str | list[str] | None
_Columns: TypeAlias = str | Iterable[str]
_Threshold: TypeAlias = float | str | dict[str, float] | None

__version__: str

class ModelError(ValueError):
    """A file is damaged, has another format version or is not a model."""

class Interrupted(KeyboardInterrupt):
    """Training was interrupted. `result` has the best model so far, or is None."""

    result: Any

@final
class Sentence:
    def __new__(
        cls,
        words: Iterable[str],
        labels: Iterable[_Label] | None = None,
        *,
        weight: float = 1.0,
        **columns: Iterable[str],
    ) -> Self: ...
    @classmethod
    def from_features(
        cls,
        features: Any,
        labels: Iterable[_Label] | None = None,
        *,
        weight: float = 1.0,
    ) -> Self: ...
    @property
    def words(self) -> list[str]: ...
    @property
    def labels(self) -> list[_Label] | None: ...
    @property
    def columns(self) -> list[str]: ...
    def column(self, name: str) -> list[str]: ...
    @property
    def features(self) -> list[dict[str, float]] | None: ...
    @property
    def weight(self) -> float: ...
    @property
    def file(self) -> str | None: ...
    @property
    def line(self) -> int | None: ...
    @property
    def is_document_start(self) -> bool: ...
    def _repr_html_(self) -> str: ...
    @staticmethod
    def _restore(data: bytes) -> Sentence: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class ReadOptions:
    def __new__(
        cls,
        *,
        format: str | None = None,
        columns: _Columns | None = None,
        label: str | int | None = None,
        unlabeled: bool = False,
        comments: bool = False,
        header: bool = False,
        partial_labels: bool = False,
        weights: bool = True,
        max_sentence: int | None = None,
        memory: int | None = None,
        encoding: str | None = None,
        paragraphs: bool = False,
        offsets: str | None = None,
        misaligned: str | None = None,
        overlaps: str | None = None,
        label_names: Iterable[str] | None = None,
    ) -> Self: ...

@final
class Corpus:
    def __new__(
        cls,
        sentences: Any,
        labels: Any = None,
        *,
        sentence: str | Iterable[str] | None = None,
        word: str | None = None,
        label: str | int | None = None,
        columns: _Columns | None = None,
        names: Iterable[str] | None = None,
        unlabeled: bool = False,
        weights: Iterable[float] | None = None,
        misaligned: str | None = None,
        overlaps: str | None = None,
    ) -> Self: ...
    @classmethod
    def _of(
        cls,
        sentences: Iterable[Any],
        labels: Iterable[Iterable[_Label] | None] | None = None,
        columns: _Columns | None = None,
        weights: Iterable[float] | None = None,
        starts: Iterable[int] | None = None,
        rows: tuple[list[int], bool] | None = None,
    ) -> Self: ...
    @classmethod
    def read(
        cls,
        paths: _Path | Iterable[_Path],
        *,
        format: str | None = None,
        columns: _Columns | None = None,
        label: str | int | None = None,
        unlabeled: bool = False,
        comments: bool = False,
        header: bool = False,
        partial_labels: bool = False,
        weights: bool = True,
        max_sentence: int | None = None,
        memory: int | None = None,
        like: Tagger | None = None,
        encoding: str | None = None,
        paragraphs: bool = False,
        offsets: str | None = None,
        misaligned: str | None = None,
        overlaps: str | None = None,
        label_names: Iterable[str] | None = None,
    ) -> Self: ...
    @classmethod
    def parse(
        cls,
        text: str,
        *,
        format: str,
        columns: _Columns | None = None,
        label: str | int | None = None,
        unlabeled: bool = False,
        comments: bool = False,
        header: bool = False,
        partial_labels: bool = False,
        misaligned: str | None = None,
        overlaps: str | None = None,
        name: str = "text",
    ) -> Self: ...
    def write(
        self, path: _Path, *, format: str | None = None, label: str | None = None
    ) -> None: ...
    def to_dict(self) -> dict[str, list[Any]]: ...
    def to_frame(self) -> Any: ...
    def to_docs(self, nlp: Any = None, *, label: str | None = None) -> list[Any]: ...
    @staticmethod
    def _restore(data: bytes) -> Corpus: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...
    def without_boundaries(self) -> Corpus: ...
    def _repr_html_(self) -> str: ...
    def documents(self, rule: str = "auto") -> list[Corpus]: ...
    @property
    def words(self) -> list[list[str]]: ...
    @property
    def labels(self) -> list[list[_Label] | None]: ...
    @property
    def tokens(self) -> int: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def has_features(self) -> bool: ...
    def default_template(
        self, *, plain_labels: str = "auto", outside: str | None = None
    ) -> str | None: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Sentence: ...
    @overload
    def __getitem__(self, index: slice, /) -> Corpus: ...
    def __iter__(self) -> Iterator[Sentence]: ...
    def __add__(self, other: Corpus, /) -> Corpus: ...
    def __radd__(self, other: Corpus, /) -> Corpus: ...

@final
class Template:
    def __new__(cls, text: str, *, files: dict[str, str] | None = None) -> Self: ...
    @classmethod
    def read(cls, path: _Path, *, files: bool = True) -> Self: ...
    @classmethod
    def shipped(cls, name: str) -> Self: ...
    @staticmethod
    def shipped_names() -> list[str]: ...
    def _repr_html_(self) -> str: ...
    def _with_knowledge(self, arguments: dict[str, Any]) -> Template: ...
    @staticmethod
    def _restore(json: str, name: str, paths: list[str]) -> Template: ...
    @property
    def text(self) -> str: ...
    @property
    def file_names(self) -> list[str]: ...
    @property
    def documents(self) -> tuple[str, int] | None: ...
    def with_documents(self, rule: str | None = None, window: int | None = None) -> Template: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def paths(self) -> list[Any]: ...
    def features(
        self, sentence: Any, *, columns: _Columns | None = None
    ) -> list[dict[str, float]]: ...

@final
class Tagger:
    @classmethod
    def open(cls, path: _Path) -> Self: ...
    @classmethod
    def from_bytes(cls, data: bytes) -> Self: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: _Path, *, force: bool = False) -> None: ...
    def _save(self, path: _Path) -> None: ...
    @property
    def labels(self) -> list[str]: ...
    @property
    def template(self) -> Template | None: ...
    @property
    def columns(self) -> list[str] | None: ...
    def tag(
        self, sentence: Any, *, threshold: _Threshold = None, constrain: bool = True
    ) -> list[str]: ...
    def tag_document(
        self, sentences: Iterable[Any], *, threshold: _Threshold = None, constrain: bool = True
    ) -> list[list[str]]: ...
    def tag_batch(
        self,
        sentences: Any,
        *,
        threads: int | None = None,
        threshold: _Threshold = None,
        constrain: bool = True,
    ) -> list[list[str]]: ...
    def _tag_rows(
        self,
        rows: list[Any],
        threads: int | None = None,
        probability: bool = False,
        threshold: _Threshold = None,
    ) -> list[str | None]: ...
    def _spans_of_all(
        self,
        sentences: Iterable[Any],
        threads: int | None = None,
        name: str = "X",
        probability: bool = False,
        threshold: _Threshold = None,
    ) -> list[list[Span]]: ...
    def analyze(
        self,
        sentence: Any,
        *,
        marginals: bool = False,
        nbest: int = 1,
        probability: bool = False,
        known: dict[int, str | list[str]] | None = None,
        spans: Iterable[tuple[int, int, str] | Span] | None = None,
        threshold: _Threshold = None,
        constrain: bool = True,
    ) -> Tagging: ...
    def explain(
        self,
        sentence: Any,
        *,
        top: int = 10,
        known: dict[int, str | list[str]] | None = None,
        spans: Iterable[tuple[int, int, str] | Span] | None = None,
        constrain: bool = True,
        tokens: Iterable[str | int] | str | None = None,
        against: str | None = None,
    ) -> Explanation: ...
    def _prepare(self, sentence: Any, name: str) -> Sentence: ...
    def _tag_all(
        self,
        sentences: Iterable[Any],
        threads: int | None = None,
        name: str = "X",
        marginals: bool = False,
    ) -> list[list[Any]]: ...
    def _counts(self) -> tuple[int, int, int]: ...
    def probability(self, sentence: Any, labels: Iterable[str]) -> float: ...
    def tag_text(
        self,
        text: str,
        *,
        probability: bool = False,
        threshold: _Threshold = None,
        offsets: str = "chars",
    ) -> TaggedText: ...
    def _repr_html_(self) -> str: ...
    def displacy(self, text: str, *, title: str | None = None) -> dict[str, Any]: ...
    def evaluate(
        self,
        data: Any,
        *,
        threads: int | None = None,
        threshold: _Threshold = None,
        constrain: bool = True,
        format: str | None = None,
        sentence: _Columns | None = None,
        word: str | None = None,
        columns: _Columns | None = None,
        label: str | int | None = None,
    ) -> Evaluation: ...
    @property
    def info(self) -> dict[str, Any]: ...
    def weights(self) -> dict[tuple[str, str], float]: ...
    def edge_weights(self) -> dict[tuple[str, str, str], float]: ...
    def transitions(self) -> dict[tuple[str, str], float]: ...
    def start_weights(self) -> dict[str, float]: ...
    def end_weights(self) -> dict[str, float]: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...

@final
class DocumentModel:
    @property
    def classes(self) -> list[str] | None: ...
    def predict(self, documents: Iterable[Any]) -> list[str] | npt.NDArray[np.float64]: ...
    def predict_proba(self, documents: Iterable[Any]) -> npt.NDArray[np.float64]: ...

def load(path: _Path) -> Tagger | DocumentModel: ...
def run_program(arguments: list[str]) -> int: ...
def sample_text(part: str) -> str: ...
def option_table() -> list[dict[str, Any]]: ...
def train(arguments: dict[str, Any]) -> dict[str, Any]: ...
def train_classifier(
    rows: list[tuple[Any, list[int | None], list[float]]],
    dev: tuple[Any, list[int | None], list[float]] | None,
    options: str,
    threads: int | None,
    observer: Callable[[int, float, float | None], None] | None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], int, BaseException | None]: ...
def tune(arguments: dict[str, Any]) -> dict[str, Any]: ...
def check(arguments: dict[str, Any]) -> tuple[str, str]: ...
def report(arguments: dict[str, Any]) -> str: ...
def cluster(arguments: dict[str, Any]) -> Clusters: ...
def draw(description: str) -> str | None: ...
def plot_style() -> str: ...
def hue(label: str) -> int: ...
def label_column(names: list[str]) -> str | None: ...
def label_names(own: list[str], given: list[str]) -> list[str]: ...
def write_file(path: _Path, contents: bytes) -> None: ...
def evaluate(
    gold: Any, predicted: Any, plain_labels: str = ..., outside: str | None = ...
) -> Evaluation: ...
def compare(
    gold: Any,
    a: Any,
    b: Any,
    samples: int,
    seed: int,
    threads: int | None,
    plain_labels: str = ...,
    outside: str | None = ...,
) -> Comparison: ...
def spans(labels: Iterable[str]) -> list[Span]: ...

# dropchain.pycrfsuite and dropchain.sklearn

@disjoint_base
class ItemSequence:
    def __new__(cls, pyseq: Iterable[Any]) -> Self: ...
    def items(self) -> list[dict[str, float]]: ...
    def __len__(self) -> int: ...

@disjoint_base
class CrfTrainer:
    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    def append(self, xseq: Any, yseq: Iterable[str], group: int = 0) -> None: ...
    def clear(self) -> None: ...
    def _append_all(
        self,
        x: Iterable[Any],
        y: Iterable[Iterable[str]],
        group: int,
        names: Sequence[str],
    ) -> None: ...
    def _append_unlabeled(self, x: Iterable[Any], name: str) -> None: ...
    @property
    def _instances(self) -> int: ...
    def _training_instances(self, holdout: int) -> int: ...
    def _train(
        self,
        options: dict[str, Any],
        holdout: int,
        threads: int | None,
        handler: Callable[[str, Any], None],
        init: Tagger | None,
    ) -> dict[str, Any]: ...
