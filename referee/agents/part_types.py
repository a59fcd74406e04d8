"""What kind of section a heading announces."""

from __future__ import annotations

import re

from referee.venues.prompts import SectionType

# The first that matches decides: "experimental results" are results, "evaluation of the model" is no method.
_KINDS: tuple[tuple[SectionType, str], ...] = (
    ("limitations", r"limitation|threats? to validity|ethic|broader impact|societal|impact statement"),
    ("related", r"related|prior work|previous work|literature|^background$|state of the art"),
    ("conclusion", r"conclu|summary|future work|closing|outlook"),
    ("introduction", r"introduc|motivation|overview"),
    ("results", r"result|finding|ablation|qualitative|quantitative|comparison with|case stud"),
    ("discussion", r"discussion|implication|lessons"),
    (
        "theory",
        r"theor|proof|lemma|preliminar|notation|formalism|assumption|convergence|guarantee"
        r"|problem (?:setting|statement|formulation|definition)|complexity",
    ),
    (
        "experiments",
        r"experiment|evaluation|set-?up|data ?sets?\b|benchmark|baseline|implementation|training|hyperparam",
    ),
    (
        "method",
        r"method|approach|model|architecture|algorithm|framework|proposed|our |system|design|construct|pipeline"
        r"|procedure|materials|mechanism|processing|interface",
    ),
    ("results", r"analys"),
)


def guess_type(heading: str) -> SectionType:
    """What kind of section a heading announces; ``other`` where its words say nothing."""
    text = heading.casefold()
    return next((kind for kind, pattern in _KINDS if re.search(pattern, text)), "other")
