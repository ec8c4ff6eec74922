"""scikit-learn's callbacks (progress bars, early stopping), where it has them.

`sklearn.callback` came with scikit-learn 1.9. With an older one, estimators fit the
same way and have no `set_callbacks`.
"""

from collections.abc import Callable, Iterator
from typing import Any

from cprime.em import Step

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's mixin before 1.9."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "Watch", "with_callbacks"]


class Watch:
    """Tells the callbacks of an estimator about a fit: fit, init i, iteration j.

    Parameters
    ----------
    estimator : estimator
    n_init : int
    max_iter : int
    data : dict
        Passed to every hook: `X` and `metadata`.
    attributes_at : callable
        Step -> dict of fitted attributes, for hooks that want a usable estimator.
    """

    def __init__(
        self,
        estimator: Any,
        n_init: int,
        max_iter: int,
        data: dict[str, Any],
        attributes_at: Callable[[Step], dict[str, Any]],
    ):
        self._data = {"estimator": estimator, **data}
        self._max_iter = max_iter
        self._attributes_at = attributes_at
        self.stopped = False
        self._root = estimator._init_callback_context(max_subtasks=n_init)
        self._root.call_on_fit_task_begin(**self._data)

    def run(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Yield the steps of one restart until they end or a callback says stop."""
        restart = self._root.subcontext("init", max_subtasks=self._max_iter)
        restart.call_on_fit_task_begin(**self._data)
        step, stop = next(steps), False
        yield step
        while not (stop or step.converged or step.iteration == self._max_iter):
            task = restart.subcontext("iteration")
            task.call_on_fit_task_begin(**self._data)
            step = next(steps)
            stop = self._end(task, step)
            yield step
        self.stopped = self._end(restart, step)

    def end(self) -> None:
        """Say that the fit is complete."""
        self._root.call_on_fit_task_end(**self._data)

    def _end(self, task: Any, step: Step) -> bool:
        return bool(
            task.call_on_fit_task_end(
                **self._data,
                reconstruction_attributes=lambda: self._attributes_at(step),
            )
        )
