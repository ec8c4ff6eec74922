"""Hypothesis draws the same examples every time, and may take the time it needs."""

from hypothesis import settings

settings.register_profile("laws", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("laws")
