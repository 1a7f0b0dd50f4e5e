# Written by the tests of dropchain-options with DROPCHAIN_WRITE=1 from their definitions.
from collections.abc import Mapping
from typing import Any, Literal, TypedDict

class FixedOptions(TypedDict, total=False):
    scheme: Literal["raw", "io", "iob1", "iob2", "bioes", "plain"] | None
    plain_labels: Literal["auto", "spans", "tags"] | None
    outside: str | float | None
    order: Literal[0, 1] | None
    boundary: bool | None
    states: Literal["all", "observed"] | None
    transitions: Literal["all", "observed"] | None
    min_count: int | None
    min_frequency: float | None
    prune: float | None
    precision: Literal["f32", "f64", "f16"] | None
    recall_bias: str | float | None
    noise: str | float | None
    max_iterations: int | None
    patience: int | None
    algorithm: str | float | None
    epsilon: float | None
    caseless: float | None

class TrainOptions(FixedOptions, total=False):
    l2: float | None
    l1: float | None
    dropout: float | None
    edge_dropout: float | None
    gradient: str | float | None
    warm_up: int | None
    seed: int | None
    unlabeled_weight: float | None
    warm_start: Literal["off", "online"] | None

NAMES: tuple[str, ...]

def check_names(options: Mapping[str, Any], function: str) -> None: ...
def from_stored(stored: Mapping[str, Any]) -> dict[str, Any]: ...
