"""Medians, intervals and verdicts, without a library: the figures must not depend on what is installed.

A cell is the list of one allocator's values in one row, one for each round.  Rounds are paired: within one, all allocators ran
back to back, so what the machine did to one of them it mostly did to all.
"""

import functools
import math
import random
from statistics import median

RESAMPLES = 1000
SEED = 20260101
# A smaller difference is not called one, however sure it is: code that moved by a cache line makes as much.
LEAST_DIFFERENCE = 0.01
# Within this of the base on both ends of its interval, an allocator is called the same.
SAME = 0.03
# Of all rows of one comparison together: the chance that any is called different though none is.
ERROR_RATE = 0.05
# An interval wider than this (half of it, to the median) makes a cell noisy.
NOISY = 0.05


@functools.lru_cache(maxsize=None)
def resamples(rounds):
    """Lists of rounds, drawn with replacement: the same ones for all cells, which keeps the pairs together."""
    rng = random.Random(SEED)
    return [[rng.randrange(rounds) for _ in range(rounds)] for _ in range(RESAMPLES)]


def interval(figures):
    """The middle 95 % of figures that resampling gave."""
    ordered = sorted(figures)
    cut = int(len(ordered) * 0.025)
    return ordered[cut], ordered[-1 - cut]


def medians(values):
    """The median of each resample."""
    if len(set(values)) == 1:
        return values[:1] * RESAMPLES
    return [median([values[i] for i in draw]) for draw in resamples(len(values))]


def geometric_mean(ratios):
    """None when there is nothing to average."""
    ratios = [r for r in ratios if r and r > 0]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def signed_rank(differences):
    """Wilcoxon's signed-rank test, exact: the probability of so one-sided a list if there were no difference."""
    magnitudes = sorted(abs(d) for d in differences if d != 0)
    if not magnitudes:
        return 1.0
    # Twice the rank, so that ties, which share the mean of their ranks, stay whole numbers.
    rank = {}
    for m in set(magnitudes):
        first = magnitudes.index(m)
        rank[m] = 2 * first + magnitudes.count(m) + 1
    ways = {0: 1}
    for m in magnitudes:
        more = dict(ways)
        for total, count in ways.items():
            more[total + rank[m]] = more.get(total + rank[m], 0) + count
        ways = more
    positive = sum(rank[abs(d)] for d in differences if d > 0)
    negative = sum(rank[abs(d)] for d in differences if d < 0)
    tail = sum(count for total, count in ways.items() if total <= min(positive, negative))
    return min(1.0, 2 * tail / 2 ** len(magnitudes))


def holm(probabilities):
    """Which of these are significant when all of them are tried (Holm's step-down method)."""
    order = sorted(range(len(probabilities)), key=lambda i: probabilities[i])
    significant = [False] * len(probabilities)
    for tried, i in enumerate(order):
        if probabilities[i] > ERROR_RATE / (len(probabilities) - tried):
            break
        significant[i] = True
    return significant


def verdict(significant, ratio, low, high):
    """An allocator against the base; ratio, low, high: of its CPU time to the base's."""
    if significant and abs(ratio - 1) >= LEAST_DIFFERENCE and not low <= 1 <= high:
        return "slower" if ratio > 1 else "faster"
    if 1 - SAME <= low and high <= 1 + SAME:
        return "same"
    return "unclear"
