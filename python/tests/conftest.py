"""What several tests use."""

import signal

import pytest

import dropchain

# Jobs in the background of a shell ignore Ctrl-C; tests that press it would never end.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def sample():
    return dropchain.sample_corpus()


@pytest.fixture(scope="session")
def dev():
    return dropchain.sample_corpus("dev")


@pytest.fixture(scope="session")
def result(sample, dev):
    return dropchain.train(sample, dev, template="ner", max_iterations=60)


@pytest.fixture(scope="session")
def tagger(result):
    return result.tagger
