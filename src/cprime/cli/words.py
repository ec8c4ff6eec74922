"""How are numbers written for a user?"""

import math


def count(number: int, singular: str = "", plural: str = "") -> str:
    """Return "1,234 rows", or "1 row"."""
    noun = singular if number == 1 else plural or f"{singular}s"
    return f"{number:,} {noun}" if singular else f"{number:,}"


def seconds(value: float) -> str:
    """Return how long something took, with as many digits as matter."""
    if value < 0.1:
        return f"{1000.0 * value:.3g} ms"
    if value < 100.0:
        return f"{value:.3g} s"
    return clock(value)


def clock(value: float) -> str:
    """Return seconds as a clock shows them: "1:23", "2:03:45"."""
    whole = math.ceil(value)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def size(n_bytes: float) -> str:
    """Return "52.1 kB", in powers of ten as disks are sold."""
    from cprime.sources.memory import in_words

    return in_words(n_bytes)


def rate(per_second: float, of: str = "rows") -> str:
    """Return "5.13 million rows/s"."""
    if per_second >= 1e6:
        return f"{per_second / 1e6:.3g} million {of}/s"
    digits = max(0, 2 - math.floor(math.log10(max(per_second, 1.0))))
    return f"{per_second:,.{digits}f} {of}/s"


def number(value: float) -> str:
    """Return a number with enough digits to compare it with its neighbours."""
    if value == 0.0 or 1e-4 <= abs(value) < 1e5:
        return f"{value:.4f}"
    return f"{value:.4g}"
