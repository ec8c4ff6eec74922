"""Where do the centres of clusters lie, in a picture of a few hundred bytes?"""

import numpy as np

from cprime.typing import Array

WIDTH, HEIGHT, MARGIN = 220.0, 150.0, 22.0
LARGEST_CIRCLE = 20.0
# Of more, the largest are drawn.
MOST_CLUSTERS = 100
# Of more, numbers would lie upon each other.
MOST_NUMBERED = 25


def centre_map(centers: Array, shares: Array) -> str:
    """Return an SVG of the centres along their two main directions.

    Areas of circles are shares of the rows. It takes no library that draws: a plain
    install has none.

    Parameters
    ----------
    centers : ndarray of shape (C, D)
    shares : ndarray of shape (C,)
    """
    drawn = np.argsort(-shares, kind="stable")[:MOST_CLUSTERS]
    places = _in_the_frame(_plane(centers[drawn]))
    radii = LARGEST_CIRCLE * np.sqrt(shares[drawn] / max(shares.max(), 1e-300))
    circles = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{max(r, 2.0):.1f}" fill="#56B4E9" '
        'fill-opacity="0.6" stroke="#0072B2"/>'
        for (x, y), r in zip(places, radii)
    )
    numbers = ""
    if len(drawn) <= MOST_NUMBERED:
        numbers = "".join(
            f'<text x="{x:.1f}" y="{y + 4:.1f}">{c}</text>'
            for c, (x, y) in zip(drawn, places)
        )
    return (
        f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" width="{WIDTH:g}" '
        f'height="{HEIGHT:g}" role="img" style="background:#fff;border:1px solid '
        '#d5dae0;border-radius:6px" text-anchor="middle" font-size="11" '
        'font-family="sans-serif"><title>Centres of the clusters along their two main '
        f"directions; areas are shares of the rows</title>{circles}{numbers}</svg>"
    )


def _plane(centers: Array) -> Array:
    """Return places along the two directions in which the centres differ most."""
    scale = np.abs(centers).max(initial=0.0)
    away = centers / scale if scale > 0 else centers
    away = away - away.mean(axis=0)
    directions = np.linalg.svd(away, full_matrices=False)[2][:2]
    # The same picture every time: the largest part of a direction points up.
    largest = np.abs(directions).argmax(axis=1)
    signs = np.sign(directions[np.arange(len(directions)), largest])
    places = np.zeros((len(centers), 2))
    places[:, : len(directions)] = away @ (directions * signs[:, None]).T
    return places


def _in_the_frame(places: Array) -> Array:
    """Return places in the units of the picture, one scale for both directions."""
    low, high = places.min(axis=0), places.max(axis=0)
    room = np.array([WIDTH, HEIGHT]) - 2.0 * MARGIN
    size = float(((high - low) / room).max())
    middle = 0.5 * (low + high)
    flipped = (places - middle) / (size if size > 0 else 1.0) * [1.0, -1.0]
    found: Array = flipped + np.array([WIDTH, HEIGHT]) / 2.0
    return found
