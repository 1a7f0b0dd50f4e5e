"""Whether a difference that was measured on several parts of a corpus is more than chance."""

import math, statistics


def paired_t(differences):
    """Returns mean and deviation of differences, how many are positive, and a two-sided p-value.

    The p-value is that of Student's t for parts whose training data overlap (Nadeau and Bengio
    2003): with K folds, the variance of the mean is taken as s²·(1/K + 1/(K − 1)), not s²/K.
    """
    count, mean = len(differences), statistics.mean(differences)
    deviation = statistics.stdev(differences)
    error = deviation * math.sqrt(1 / count + 1 / (count - 1))
    if error == 0:
        p = 1.0 if mean == 0 else 0.0
    else:
        p = two_sided(mean / error, count - 1)
    return {
        "differences": differences,
        "mean": mean,
        "deviation": deviation,
        "ahead": sum(d > 0 for d in differences),
        "p_value": p,
    }


def two_sided(t, freedom):
    """Returns the probability that |T| > |t| under Student's t with whole degrees of freedom.

    The closed forms are 26.7.3 and 26.7.4 of Abramowitz and Stegun.
    """
    angle = math.atan(abs(t) / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term, total = (cosine, 0.0) if odd else (1.0, 0.0)
    for k in range(odd, freedom - 1, 2):
        total += term
        term *= cosine**2 * (k + 1) / (k + 2)
    inside = 2 / math.pi * (angle + sine * total) if odd else sine * total
    return max(0.0, 1.0 - inside)


def sign_test(ahead, behind):
    """Returns the two-sided p-value of the exact sign test on the cases in which two differ."""
    count, fewer = ahead + behind, min(ahead, behind)
    tail = sum(math.comb(count, k) for k in range(fewer + 1))
    return min(1.0, 2 * tail / 2**count) if count else 1.0
