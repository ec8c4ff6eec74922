"""What do the numbers of a fit mean, in plain words?

Pure functions from numbers to a `Finding`: an answer in one sentence, and what it rests
on.
"""

from cprime.advice.verdicts import (
    AMBIGUOUS,
    CONSIDERABLE,
    NEGLIGIBLE,
    Finding,
    hard_assignment,
    recommended_c_prime,
    restarts,
    which_c_prime,
)

__all__ = [
    "AMBIGUOUS",
    "CONSIDERABLE",
    "NEGLIGIBLE",
    "Finding",
    "hard_assignment",
    "recommended_c_prime",
    "restarts",
    "which_c_prime",
]
