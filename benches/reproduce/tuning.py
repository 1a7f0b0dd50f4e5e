"""The search for strengths, on development data alone."""
from dataclasses import dataclass

from runs import Run, Task

L2 = [float(f"{digit}e{power}") for power in range(-5, 3) for digit in (1, 3)]
L2_GRID = (0.003, 3.0)  # always tried from … to; extended until the best is not at its edge
DROPOUT = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9]
EDGE = [0.02, 0.05, 0.1, 0.3, 0.6, 0.8, 0.9, 0.95]
WEIGHT = [0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0]
AXES = {"dropout": DROPOUT, "edge-dropout": EDGE, "l2": L2, "unlabeled-weight": WEIGHT}


@dataclass(frozen=True)
class Chosen:
    """The best of a search."""

    run: Run
    tried: int  # how many settings
    edge: list  # the options whose value is the last of its range


def none(runner, task):
    """No penalty and no noise: development data alone end training."""
    (run,) = runner.train(task, [{"l2": 0.0}])
    return Chosen(run, 1, [])


def l2(runner, task):
    """The best strength of L2 on a grid that is extended while the best is at its edge."""
    low, high = (L2.index(limit) for limit in L2_GRID)
    while True:
        runs = runner.train(task, [{"l2": value} for value in L2[low : high + 1]])
        best = max(range(len(runs)), key=lambda i: runs[i].score)
        if best == 0 and low > 0:
            low -= 1
        elif best == len(runs) - 1 and high < len(L2) - 1:
            high += 1
        else:
            runner.clear(runs, runs[best])
            return Chosen(runs[best], len(runs), ["l2"] if best in (0, len(runs) - 1) else [])


def climb(runner, task, start, axes):
    """Coordinate search: along one axis as long as the score rises, then along the next, until none helps."""
    settings, seen = dict(start), {}
    key = lambda settings: tuple(settings.items())

    def score(several):
        seen.update((key(run.settings), run) for run in runner.train(task, several))
        # A model of the warm-up has seen no noise: such a run is made again without one.
        quiet = [s for s in several if seen[key(s)].noise == 0]
        for s, run in zip(quiet, runner.train(task, [{**s, "warm-up": 0} for s in quiet])):
            runner.clear([seen[key(s)]], run)
            seen[key(s)] = run
        return [seen[key(s)].score for s in several]

    (best,) = score([settings])
    moved, turn = 0, 0  # axes since the last gain; axes in all
    while moved < len(axes):
        axis, values = axes[turn % len(axes)], AXES[axes[turn % len(axes)]]
        at, moved, turn = values.index(settings[axis]), moved + 1, turn + 1
        sides = [at + step for step in (-1, 1) if 0 <= at + step < len(values)]
        scores = score([{**settings, axis: values[i]} for i in sides])
        if max(scores) <= best:
            continue
        moved = 1
        best, here = max(scores), sides[scores.index(max(scores))]
        step = here - at
        settings = {**settings, axis: values[here]}
        while 0 <= here + step < len(values):
            (next_score,) = score([{**settings, axis: values[here + step]}])
            if next_score <= best:
                break
            best, here = next_score, here + step
            settings = {**settings, axis: values[here]}
    chosen = seen[key(settings)]
    runner.clear(seen.values(), chosen)
    edge = [axis for axis in axes if settings[axis] in (AXES[axis][0], AXES[axis][-1])]
    return Chosen(chosen, len(seen), edge)


def dropout(runner, task):
    """Dropout with a little L2; at order 0 no edge has noise."""
    start = {"dropout": 0.3, "edge-dropout": 0.6, "l2": task.corpus.l2}
    if task.order == 0:
        del start["edge-dropout"]
    return climb(runner, task, start, list(start))


def unlabeled(runner, task, file, found):
    """Dropout with unlabeled text: from the settings `found` without it, its weight and the rate are searched for."""
    with_text = Task(task.corpus, task.order, file)
    start = {**found.run.settings, "unlabeled-weight": 0.2}
    start.pop("warm-up", None)
    return climb(runner, with_text, start, ["unlabeled-weight", "dropout", "l2"])
