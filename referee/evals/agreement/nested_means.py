"""The interval of a mean over conferences of means over forms of means over axes, papers drawn within their form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from referee.stats import Interval, bootstrap_interval

Floats = npt.NDArray[np.float64]
Errors = Mapping[str, Mapping[str, float]]
"""Of one form: by paper, then by axis."""

_RESAMPLES = 2000
_MOST_CELLS = 1 << 20


def nested_interval(venues: Sequence[Sequence[Errors]], *, seed: int, resamples: int = _RESAMPLES) -> Interval:
    """The unweighted mean of conferences, forms and axes, each over the papers that have it, with a 95% interval.

    As many papers as a form has are drawn from it with replacement, whole, so that a paper's axes stay together; the
    interval runs between the 2.5% and the 97.5% quantiles of the resamples. A form with one paper is the same in all.

    Args:
        venues: For each conference its forms; what has no value takes no part.
        seed: Same seed and data, same interval.
        resamples: How many.

    Returns:
        ``n`` counts values, ``clusters`` papers. No bounds where no form has two papers.
    """
    forms = [[_table(errors) for errors in venue] for venue in venues]
    tables = [table for venue in forms for table in venue]
    n = int(sum(known.sum() for _, known in tables))
    papers = [len(values) for values, _ in tables]
    if not n:
        return Interval(None, None, None, 0, 0)
    if n == sum(papers) and sum(map(bool, papers)) == 1:
        return _plain_interval([errors for venue in venues for errors in venue], seed, resamples)
    whole = [[_form_means(table, np.ones((1, len(table[0])))) for table in venue] for venue in forms]
    mean = float(_over_venues(whole)[0])
    if max(papers) < 2:
        return Interval(mean, None, None, n, sum(papers))
    rng = np.random.default_rng(seed)
    drawn = [[_resampled(table, rng, resamples) for table in venue] for venue in forms]
    found = _over_venues(drawn)
    low, high = np.quantile(found[~np.isnan(found)], [0.025, 0.975])
    return Interval(mean, float(low), float(high), n, sum(papers))


def _plain_interval(forms: Sequence[Errors], seed: int, resamples: int) -> Interval:
    """One form and one value a paper: an ordinary mean."""
    values = {paper: list(given.values()) for errors in forms for paper, given in errors.items() if given}
    return bootstrap_interval(values, seed=seed, resamples=resamples)


def _table(errors: Errors) -> tuple[Floats, Floats]:
    """Papers by axes: the values, 0 where there is none, and 1 where there is one."""
    rows = [given for given in errors.values() if given]
    axes = sorted({axis for given in rows for axis in given})
    values = np.array([[given.get(axis, 0.0) for axis in axes] for given in rows], dtype=np.float64)
    known = np.array([[axis in given for axis in axes] for given in rows], dtype=np.float64)
    return values.reshape(len(rows), len(axes)), known.reshape(len(rows), len(axes))


def _resampled(table: tuple[Floats, Floats], rng: np.random.Generator, resamples: int) -> Floats:
    """The form's mean in each resample, in blocks so that many papers need no large table."""
    papers = len(table[0])
    if not papers:
        return np.full(resamples, np.nan)
    return np.concatenate([_form_means(table, drawn) for drawn in _draws(papers, rng, resamples)])


def _draws(papers: int, rng: np.random.Generator, resamples: int) -> Iterator[Floats]:
    """How often each paper is drawn, in each resample."""
    block = max(1, _MOST_CELLS // papers)
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        yield rng.multinomial(papers, np.full(papers, 1 / papers), size=size).astype(np.float64)


def _form_means(table: tuple[Floats, Floats], drawn: Floats) -> Floats:
    values, known = table
    counts = drawn @ known
    means = np.divide(drawn @ values, counts, out=np.full(counts.shape, np.nan), where=counts > 0)
    return _mean_of_known(means)


def _over_venues(venues: Sequence[Sequence[Floats]]) -> Floats:
    means = [_mean_of_known(np.stack(forms, axis=1)) for forms in venues if forms]
    return _mean_of_known(np.stack(means, axis=1))


def _mean_of_known(values: Floats) -> Floats:
    """The mean of each row over what is not NaN; NaN where all is."""
    known = ~np.isnan(values)
    count = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    means: Floats = np.divide(total, count, out=np.full(len(values), np.nan), where=count > 0)
    return means
