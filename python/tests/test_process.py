"""What a long-lived process relies on: memory that does not grow, and forks."""

import gc
import multiprocessing
import os
import sys

import pytest

import dropchain
from dropchain import Tagger, train, tune

X = [
    [{"upper": t % 2, **{f"w={s}.{t}.{k}": 1 for k in range(5)}} for t in range(20)]
    for s in range(5)
]
Y = [["A" if t % 2 else "B" for t in range(20)] for _ in range(5)]
OPTIONS = {"dropout": 0, "max_iterations": 3, "threads": 1}

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="skipped: Linux only")


def resident():
    """Return the resident memory in bytes."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(work, warm_up, repetitions):
    """Return how much memory grows in many repetitions, after those that fill caches."""
    for _ in range(warm_up):
        work()
    before = resident()
    for _ in range(repetitions):
        work()
    return resident() - before


@pytest.mark.slow
@linux
def test_a_thousand_trainings_leak_nothing():
    assert growth(lambda: train((X, Y), **OPTIONS), 100, 1000) < 5_000_000
    # The bound is one that a leak would break: results that are kept hold more.
    kept = []
    assert growth(lambda: kept.append(train((X, Y), **OPTIONS)), 0, 2000) > 7_000_000


@linux
def test_a_million_taggings_leak_nothing():
    tagger = train((X, Y), **OPTIONS).tagger
    batch = [[["w=1.1.1", "upper"]]] * 1000
    # A tagging holds more than 100 bytes.
    assert growth(lambda: tagger.tag_batch(batch), 50, 1000) < 20_000_000
    one = [["w=1.1.1", "upper"]] * 3

    def tag():
        for _ in range(1000):
            tagger.tag(one)

    assert growth(tag, 5, 100) < 5_000_000
    assert growth(lambda: tagger.analyze(one, marginals=True, nbest=3), 1000, 20_000) < 5_000_000


@linux
def test_errors_and_models_leak_nothing(tmp_path):
    path = tmp_path / "a.model"
    train((X, Y), model=path, **OPTIONS)
    wrong = [*X[:4], [{"a": None}] * 20]

    def work():
        Tagger.from_bytes(Tagger.open(path).to_bytes()).tag(X[0])
        with pytest.raises(ValueError):
            train((wrong, Y), **OPTIONS)

    assert growth(work, 100, 1000) < 5_000_000


def _work(path, queue):
    tagger = Tagger.open(path)
    result = train((X, Y), dropout=0, max_iterations=3, threads=2)
    search = tune((X, Y), (X, Y), dropout=0, l2=0.1, max_iterations=3, threads=2)
    queue.put((result.tagger.tag_batch(X, threads=2), tagger.tag_batch(X), search.best.score))


@linux
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_processes_train_and_tag(tmp_path):
    path = tmp_path / "a.model"
    result = train((X, Y), model=path, dropout=0, max_iterations=3, threads=2)
    expected = result.tagger.tag_batch(X, threads=2)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    processes = [context.Process(target=_work, args=(path, queue)) for _ in range(2)]
    for process in processes:
        process.start()
    for _ in processes:
        trained, tagged, score = queue.get(timeout=300)
        assert trained == tagged == expected and score == 1
    for process in processes:
        process.join()
        assert process.exitcode == 0


@linux
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_taggers_go_to_the_workers_of_a_pool(tagger):
    words = dropchain.sample_corpus("test").words
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(tagger.tag, words) == tagger.tag_batch(words)
