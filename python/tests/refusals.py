"""Calls that must raise."""

import pytest


def refused(message, call, /, *arguments, error=ValueError, **options):
    """Asserts that a call raises an error whose message has a match of a regular expression."""
    __tracebackhide__ = True
    with pytest.raises(error, match=message):
        call(*arguments, **options)
