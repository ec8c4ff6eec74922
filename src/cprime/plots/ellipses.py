"""Where do a Gaussian's standard deviations lie in the plane?"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Ellipse

from cprime.typing import Array

STYLES = {1: "-", 2: "--"}


def draw_ellipses(ax: Axes, mean: Array, covariance: Array, colour: Any) -> None:
    """Draw one standard deviation, and two in dashes.

    Parameters
    ----------
    ax : matplotlib Axes
    mean : ndarray of shape (2,)
    covariance : ndarray of shape (2, 2)
    colour : matplotlib colour
    """
    variances, axes = np.linalg.eigh(covariance)
    width, height = 2.0 * np.sqrt(np.maximum(variances, 0.0))
    angle = float(np.degrees(np.arctan2(axes[1, 0], axes[0, 0])))
    for sigmas, style in STYLES.items():
        ellipse = Ellipse(
            (float(mean[0]), float(mean[1])),
            sigmas * width,
            sigmas * height,
            angle=angle,
            facecolor="none",
            edgecolor=colour,
            linewidth=1.2 / sigmas**0.6,
            linestyle=style,
            zorder=3,
        )
        ax.add_patch(ellipse)
