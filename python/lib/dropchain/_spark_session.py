"""What tagging and training need of Spark."""

from __future__ import annotations

from typing import Any


def pyspark_with_arrow() -> Any:
    """Import pyspark.

    Raises ImportError that says what to install if it, or what it needs for Arrow, is missing.
    """
    try:
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
        import pyspark.sql.types
    except ImportError as error:
        raise ImportError(
            f"dropchain.spark needs pyspark, and what it needs for Arrow ({error}): "
            "pip install 'pyspark[sql]'"
        ) from error
    return pyspark


def check_classic(df: Any, reason: str) -> None:
    """Raise ValueError if a DataFrame belongs to a Spark Connect session."""
    if type(df).__module__.startswith("pyspark.sql.connect"):
        raise ValueError(
            f"the DataFrame belongs to a Spark Connect session, {reason}; expected one of a "
            "classic session (SparkSession.builder.master(…))"
        )
