"""How are numbers and names written for a user?"""

import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

# A name longer than this is shortened.
LONGEST_NAME = 40
# Of a long list, so many are named and the rest counted.
MOST_NAMED = 6
SIGMA, MINUS = "\N{GREEK SMALL LETTER SIGMA}", "\N{MINUS SIGN}"
PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
# Accents and vowel signs one letter may carry.
MOST_MARKS = 2
# What is written of a number below this is zeros.
SMALLEST_SHOWN = 1e-4
# Smaller gaps differ in nothing that matters.
NO_GAP = 1e-9
# Of a number with four decimals, smaller errors are not seen.
SHOWN_ERROR = 5e-5


def plain(name: object, longest: int = LONGEST_NAME) -> str:
    """Return a name as one short line of visible text.

    Columns and files may be called anything. Line breaks, control characters, marks
    that turn the direction of text, and halves of characters become visible or go.

    Parameters
    ----------
    name : object
        Usually a str.
    longest : int, default=40
        Characters that are left of a longer one, its end included.
    """
    text = str(name)
    # Nobody needs all of a megabyte to see that it is too long.
    text = text[: 4 * longest] + text[-longest:] if len(text) > 8 * longest else text
    text = unicodedata.normalize("NFC", text)
    shown = " ".join("".join(_visible(text)).split()) or "(no name)"
    if len(shown) <= longest:
        return shown
    end = longest // 3
    return f"{shown[: longest - end - 1]}{ELLIPSIS}{shown[-end:]}"


def _visible(text: str) -> Iterator[str]:
    marks = 0
    for character in text:
        kind = unicodedata.category(character)
        marks = marks + 1 if kind in ("Mn", "Me") else 0
        if character in "\t\n\r" or kind in ("Zs", "Zl", "Zp"):
            yield " "
        elif kind in ("Cc", "Cs", "Co", "Cn"):
            yield "\N{REPLACEMENT CHARACTER}"
        # Directions, joiners and zero widths say nothing, nor do marks piled up.
        elif kind != "Cf" and marks <= MOST_MARKS:
            yield character


def count(number: float, noun: str = "") -> str:
    """Return '1 row', '12,345 rows': a number with its noun."""
    text = f"{int(number):,}"
    return f"{text} {noun}{'' if number == 1 else 's'}" if noun else text


def brief(text: str) -> str:
    """Return the wording of a sentence as it fits into a table: '< 0.0001'."""
    return text.replace("less than", "<").replace("more than", ">")


def either(number: float, one: str, many: str) -> str:
    """Return the word for one, or that for several."""
    return one if number == 1 else many


def nats(value: float) -> str:
    """Return nats with the digits that matter: '0.0733', '1.25', 'less than 0.0001'."""
    if value == 0.0:
        return "0"
    if 0.0 < value < SMALLEST_SHOWN:
        return f"less than {SMALLEST_SHOWN:.4f}"
    return decimals(value, 4 if abs(value) < 0.1 else 3)


def decimals(value: float, digits: int) -> str:
    """Return a number with so many digits behind the point."""
    return f"{value:.{digits}f}".replace("-", MINUS)


def share(part: float, whole: float = 1.0) -> str:
    """Return a part as a percentage that is 0 or 100 % only if it really is."""
    if whole == 0.0:
        return "0 %"
    percent = 100.0 * part / whole
    if percent in (0.0, 100.0):
        return f"{percent:.0f} %"
    if percent < 0.01:
        return "less than 0.01 %"
    if percent > 99.9:
        return "more than 99.9 %"
    digits = 2 if percent < 0.1 else 1 if percent < 10.0 or percent > 99.0 else 0
    return f"{percent:.{digits}f} %"


def number(value: float) -> str:
    """Return any number in a few digits: '1,234', '0.00123', '3.1e+12'."""
    if not math.isfinite(value):
        return "missing" if math.isnan(value) else str(value)
    if value == 0.0:
        return "0"
    size = abs(value)
    if 1e-4 <= size < 1e4:
        text = f"{value:.4g}"
    elif 1e4 <= size < 1e7:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.3g}"
    return text.replace("-", MINUS, 1) if value < 0 else text


def three_digits(value: float) -> str:
    """Return three digits of a number, short for a picture: '0.0123', '1.2e5'."""
    if value == 0 or 1e-4 <= abs(value) < 1e4:
        return f"{value:.3g}"
    return f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e")


def comparable(value: float) -> str:
    """Return a number with enough digits to compare it with its neighbours."""
    if value == 0.0 or 1e-4 <= abs(value) < 1e5:
        return f"{value:.4f}"
    return f"{value:.4g}"


def gap(value: float, standard_error: float = 0.0) -> str:
    """Return a gap, with its error if it has one; next to nothing as '< 1e-9'."""
    text = "< 1e-9" if 0.0 < value < NO_GAP else comparable(value)
    is_shown = standard_error >= SHOWN_ERROR
    return f"{text} {PLUS_MINUS} {standard_error:.1g}" if is_shown else text


def signed(value: float) -> str:
    """Return a deviation with its sign: '+1.5', '-0.3'."""
    return f"{value:+.1f}".replace("-", MINUS)


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
    # Not above: it imports numpy, which `cprime --help` does without.
    from cprime.sources.memory import in_words

    return in_words(n_bytes)


def rate(per_second: float) -> str:
    """Return "5.13 million rows/s"."""
    if per_second >= 1e6:
        return f"{per_second / 1e6:.3g} million rows/s"
    digits = max(0, 2 - math.floor(math.log10(max(per_second, 1.0))))
    return f"{per_second:,.{digits}f} rows/s"


def name_columns(
    names: Iterable[object] | None, n_columns: int, prefix: str = "feature "
) -> list[str]:
    """Return the names of columns, or their numbers if they have none: 'feature 0'."""
    if names is None:
        return [f"{prefix}{column}" for column in range(n_columns)]
    return [str(name) for name in names]


def listing(items: Sequence[object], most: int = MOST_NAMED) -> str:
    """Return 'a', 'a and b', 'a, b and c', or the first of many and how many more."""
    shown = [str(item) for item in items]
    if len(shown) > most + 1:
        shown = [*shown[:most], f"{count(len(shown) - most)} more"]
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def clusters(indices: Sequence[int]) -> str:
    """Return 'cluster 3', 'clusters 3 and 7', or the first of many."""
    return f"{either(len(indices), 'cluster', 'clusters')} {listing(indices)}"
