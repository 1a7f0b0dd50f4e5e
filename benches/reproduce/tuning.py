"""Searches for regularization strengths, on development data alone."""

from dataclasses import dataclass, replace

from runs import Run

L2 = [float(f"{digit}e{power}") for power in range(-5, 3) for digit in (1, 3)]
L2_GRID = (0.003, 3.0)  # first and last value of the initial grid
DROPOUT = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9]
EDGE = [0.02, 0.05, 0.1, 0.3, 0.6, 0.8, 0.9, 0.95]
WEIGHT = [0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0]
SMALL_AND_LARGE = (0.02, 0.2)  # weights that searches of unlabeled text start from
WARM_UP = (20, 0)  # iterations without noise at the start of training
AXES = {"dropout": DROPOUT, "edge-dropout": EDGE, "l2": [0.0, *L2], "unlabeled-weight": WEIGHT}


@dataclass(frozen=True)
class Chosen:
    """The result of a search."""

    run: Run
    tried: int  # number of settings
    at_edge: list  # the options whose value is the first or last of its range, except 0


def none(runner, task):
    """Trains without penalty or noise; only early stopping regularizes."""
    (run,) = runner.train(task, [{"l2": 0.0}])
    return Chosen(run, 1, [])


def l2(runner, task):
    """Searches a grid of L2 strengths that is extended while the best is at its edge."""
    low, high = (L2.index(limit) for limit in L2_GRID)
    while True:
        runs = runner.train(task, [{"l2": value} for value in L2[low : high + 1]])
        best = max(range(len(runs)), key=lambda i: runs[i].score)
        if best == 0 and low > 0:
            low -= 1
        elif best == len(runs) - 1 and high < len(L2) - 1:
            high += 1
        else:
            runner.delete_models(runs, runs[best])
            at_edge = ["l2"] if best in (0, len(runs) - 1) else []
            return Chosen(runs[best], len(runs), at_edge)


def climb(runner, task, start, axes):
    """Coordinate search: follows an axis while the score rises, then the next, until none helps."""
    settings, seen = dict(start), {}
    key = lambda settings: tuple(settings.items())

    def score(candidates):
        seen.update((key(run.settings), run) for run in runner.train(task, candidates))
        return [score_with_noise(seen[key(s)]) for s in candidates]

    (best,) = score([settings])
    without_gain, turn = 0, 0
    while without_gain < len(axes):
        axis = axes[turn % len(axes)]
        values = AXES[axis]
        here = values.index(settings[axis])
        without_gain, turn = without_gain + 1, turn + 1
        neighbors = [here + step for step in (-1, 1) if 0 <= here + step < len(values)]
        scores = score([{**settings, axis: values[i]} for i in neighbors])
        if max(scores) <= best:
            continue
        without_gain = 1
        best, there = max(scores), neighbors[scores.index(max(scores))]
        step = there - here
        settings = {**settings, axis: values[there]}
        while 0 <= there + step < len(values):
            (next_score,) = score([{**settings, axis: values[there + step]}])
            if next_score <= best:
                break
            best, there = next_score, there + step
            settings = {**settings, axis: values[there]}
    run = seen[key(settings)]
    runner.delete_models(seen.values(), run)
    ends = lambda axis: {AXES[axis][0], AXES[axis][-1]} - {0.0}
    return Chosen(run, len(seen), [axis for axis in axes if settings[axis] in ends(axis)])


def score_with_noise(run):
    """Returns the score of a run; below all others if its model is from within the warm-up.

    Such a model was trained without noise: as a result of dropout it would be L2 by another name.
    """
    return run.score if run.noise > 0 else -1.0


def dropout(runner, task):
    """Searches dropout with a little L2, or none, once for each warm-up.

    Where noise begins and how much of it is best depend on each other, so the warm-up is not
    another axis of one coordinate search. Without edges (order 0) there is no edge dropout.
    """
    start = {"dropout": 0.3, "edge-dropout": 0.6, "l2": task.corpus.l2}
    if task.order == 0:
        del start["edge-dropout"]
    choices = [climb(runner, task, {**start, "warm-up": n}, list(start)) for n in WARM_UP]
    best = max(choices, key=lambda chosen: score_with_noise(chosen.run))
    runner.delete_models([chosen.run for chosen in choices], best.run)
    return replace(best, tried=sum(chosen.tried for chosen in choices))


def unlabeled(runner, task, file, dropout_choice):
    """Searches the weight of unlabeled text, dropout and L2, from the choice without it.

    It starts twice, with a small weight and with a large one: between them, the score may have a
    valley, as a rate that is right without unlabeled text is too high with much of it.
    """
    task, axes = replace(task, unlabeled=file), ["unlabeled-weight", "dropout", "l2"]
    choices = []
    for weight in SMALL_AND_LARGE:
        start = {**dropout_choice.run.settings, "unlabeled-weight": weight}
        chosen = climb(runner, task, start, axes)
        if chosen.run.noise == 0:
            runner.delete_models([chosen.run], None)
            chosen = climb(runner, task, {**start, "warm-up": 0}, axes)
        choices.append(chosen)
    best = max(choices, key=lambda chosen: score_with_noise(chosen.run))
    runner.delete_models([chosen.run for chosen in choices], best.run)
    return replace(best, tried=sum(chosen.tried for chosen in choices))
