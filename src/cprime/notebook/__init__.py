"""What do fits look like in a notebook? A card for a fit, a bar while it runs.

Nothing is needed for it but what a plain install has.
"""

from cprime.notebook.card import card_of
from cprime.notebook.progress_bar import ProgressBar

__all__ = ["ProgressBar", "card_of"]
