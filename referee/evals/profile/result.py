"""What a profile found: groups, comparisons, ratings, agreement, coverage, ready to be stored and printed."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from referee.schemas.base import Frozen


class Cell(Frozen):
    """One measure in one group: its mean over reviews with the interval by paper; null with the reasons counted.

    ``least``, ``q1``, ``median``, ``q3`` and ``most`` are of the reviews' values, ``total`` is their sum.
    """

    group: str
    measure: str
    n: int
    papers: int
    mean: float | None
    low: float | None
    high: float | None
    median: float | None
    sd: float | None
    least: float | None = None
    q1: float | None = None
    q3: float | None = None
    most: float | None = None
    total: float | None = None
    skipped: int
    reasons: dict[str, int] = Field(default_factory=dict)


class GroupSize(Frozen):
    """A group, its values by key, and how many of its reviews have how many cross-references."""

    group: str
    keys: dict[str, str]
    reviews: int
    papers: int
    xref_bins: dict[str, int] = Field(default_factory=dict)


class YearCell(Frozen):
    """One measure in one year of a series: a reviewer at a conference."""

    series: str
    year: int
    measure: str
    n: int
    mean: float | None
    low: float | None
    high: float | None


class Test(Frozen):
    """Two groups in one measure.

    ``difference`` is the first mean less the second, with an interval by paper; ``standardised`` the same in pooled
    standard deviations; ``ratio`` the first mean over the second, where that is above 0. ``effect`` is the
    rank-biserial correlation; ``p_holm`` is corrected over all tests of the profile but those of variants. Null with a
    ``reason``.
    """

    __test__ = False

    first: str
    second: str
    measure: str
    n_first: int
    n_second: int
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    ratio: float | None = None
    standardised: float | None = None
    standardised_low: float | None = None
    standardised_high: float | None = None
    u: float | None = None
    method: Literal["exact", "normal", "clustered"] | None = None
    p: float | None = None
    p_holm: float | None = None
    effect: float | None = None
    reason: str = ""


class Spread(Frozen):
    """How one measure's values lie in each of the drawn groups.

    ``curves`` hold by group (value, share of its reviews at or below it); ``low`` and ``high`` end the drawn axis.
    """

    low: float
    high: float
    curves: dict[str, tuple[tuple[float, float], ...]]


class Shares(Frozen):
    """Ratings or confidences of a group on one form.

    ``counts`` go with ``allowed``. Of a free scale, of an unknown form, ``allowed`` are the values that were seen.
    """

    group: str
    what: Literal["rating", "confidence"]
    form: str
    known: bool
    allowed: tuple[float, ...]
    counts: tuple[int, ...]
    off_scale: dict[str, int]
    off_scale_share: float | None
    missing: int
    mean: float | None


class Agreement(Frozen):
    """One system's ratings beside human ones of the same papers, on one form or by rank within two.

    ``difference`` is from the human median. L1, total variation and Wasserstein-1 are between the two distributions:
    over the form's values, and for ``ranks`` over five equal bins of rank. ``off_scale_share`` is the share of the
    system's values that people's form does not offer; those are in no distance on the native scale.
    """

    system: str
    what: Literal["rating", "confidence"]
    form: str
    other_form: str = ""
    scale: Literal["native", "ranks"] = "native"
    papers: int = 0
    without_human: int = 0
    without_rating: int = 0
    repeated: int = 0
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    difference_median: float | None = None
    off_scale_share: float | None = None
    human_off_scale_share: float | None = None
    l1: float | None = None
    total_variation: float | None = None
    wasserstein_1: float | None = None
    reason: str = ""


class Alpha(Frozen):
    """Krippendorff's alpha of people, of people with the system, and the difference: a year, or the mean of years."""

    system: str
    conference: str
    year: int | None
    mean_of_years: bool
    papers: int
    weighting: str
    scale: Literal["native", "ranks"]
    human: float | None
    human_low: float | None
    human_high: float | None
    joined: float | None
    joined_low: float | None
    joined_high: float | None
    delta: float | None
    delta_low: float | None
    delta_high: float | None
    reason: str = ""


class Engagement(Frozen):
    """P(+|+) and P(+|-): how often a system engages with mathematics where people do, and where they do not.

    By conference and, with ``conference`` empty, over all of them; intervals draw papers whole.
    """

    system: str
    conference: str
    unit: str
    backend: str
    given_positive: float | None
    given_positive_low: float | None
    given_positive_high: float | None
    given_negative: float | None
    given_negative_low: float | None
    given_negative_high: float | None
    positive: int
    negative: int


class Covered(Frozen):
    """One coverage measure of a system over pairs of a generated and a human review of one paper.

    ``kind`` is ``own`` (the same paper), ``chance`` (a different paper's human review), ``volume`` (recall of as many
    generated items as there are human ones) or ``micro`` (all pairs' counts together, without an interval). ``sd`` is
    over pairs. Where there are several systems, ``all systems`` stands for their pairs together.
    """

    system: str
    polarity: str
    measure: str
    kind: Literal["own", "chance", "volume", "micro"]
    value: float | None
    low: float | None = None
    high: float | None = None
    sd: float | None = None
    pairs: int
    skipped: int
    reason: str = ""


class Matched(Frozen):
    """A quantity of generated reviews beside human ones of the same papers; ``split`` is all, a venue or a decision."""

    system: str
    split: str
    quantity: str
    ratio: float | None
    ratio_median: float | None
    ratio_sd: float | None
    pairs: int
    zero_denominators: int
    difference: float | None
    difference_median: float | None
    generated_total: float
    human_total: float
    compared: int
    undefined: int
    reason: str = ""


class Consistency(Frozen):
    """Krippendorff's ordinal alpha between the ratings of two configurations of one source, on the papers of both.

    A row for each conference, year and form; ratings of several are never pooled. With ``mean_of`` above 0 the row is
    the unweighted mean over so many of the conference's rows. ``without_rating`` counts papers that one of the two gave
    no rating; papers that the two rated on different forms have a row without a value, with the ``reason``.
    """

    source: str
    first: str
    second: str
    conference: str
    year: int | None
    form: str
    mean_of: int = 0
    papers: int
    without_rating: int = 0
    alpha: float | None
    low: float | None
    high: float | None
    reason: str = ""


class Decided(Frozen):
    """How many papers of a venue and year were decided how, and how many reviews they have.

    ``decision`` is its class; ``words`` are what the data write for it, with the number of papers.
    """

    venue: str
    year: int | None
    decision: str
    words: str
    papers: int
    human_reviews: int
    ai_reviews: int


class Cited(Frozen):
    """A group's formal citations by what became of them; ``rate`` is verified / (all - unresolved)."""

    group: str
    reviews: int
    citations: int
    verified: int
    year_mismatch: int
    author_mismatch: int
    ambiguous: int
    not_found: int
    unresolved: int
    rate: float | None
    reason: str = ""


class ProfileResult(Frozen):
    """All that ``referee profile`` found; stored as ``summary.json``."""

    schema_version: Literal[4] = 4
    reviews: int
    papers: int
    rejected: int
    rejected_by: dict[str, int] = Field(default_factory=dict)
    by: tuple[str, ...]
    groups: tuple[GroupSize, ...]
    cells: tuple[Cell, ...]
    years: tuple[YearCell, ...] = ()
    tests: tuple[Test, ...] = ()
    shares: tuple[Shares, ...] = ()
    agreements: tuple[Agreement, ...] = ()
    alphas: tuple[Alpha, ...] = ()
    engagement: tuple[Engagement, ...] = ()
    coverage: tuple[Covered, ...] = ()
    matched: tuple[Matched, ...] = ()
    consistency: tuple[Consistency, ...] = ()
    decisions: tuple[Decided, ...] = ()
    citations: tuple[Cited, ...] = ()
    spread: dict[str, Spread] = Field(default_factory=dict)
    drawn: tuple[str, ...] = ()
    backends: dict[str, str] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()
