"""Progress bars in the terminal for the progress that stages report."""

from __future__ import annotations

from types import TracebackType

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from taxkg_assets.defs.progress import listening
from taxkg_assets.serving.terminal import Terminal


class ProgressBars:
    """One bar per stage, on standard error; silent where standard error is not a terminal."""

    def __init__(self) -> None:
        console = Terminal(stderr=True)
        self.progress = Progress(
            SpinnerColumn(finished_text="[green]✓"),
            TextColumn("{task.description:<12}"),
            BarColumn(bar_width=32),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self.tasks: dict[str, TaskID] = {}
        self._listening = listening(self)

    def __enter__(self) -> ProgressBars:
        self._listening.__enter__()
        self.progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.progress.stop()
        self._listening.__exit__(kind, error, trace)

    def start(self, stage: str, total: int) -> None:
        """Show a bar, or a pulsing one where the total is unknown."""
        self.tasks[stage] = self.progress.add_task(stage, total=total or None)

    def advance(self, stage: str, count: int = 1) -> None:
        """Move a bar."""
        self.progress.advance(self.tasks[stage], count)

    def measure(self, stage: str, done: int, total: int) -> None:
        """Set a bar that did not know its total."""
        self.progress.update(self.tasks[stage], completed=done, total=total)

    def finish(self, stage: str) -> None:
        """Fill a bar."""
        task = self.tasks[stage]
        done = self.progress.tasks[self.progress.task_ids.index(task)]
        total = done.total or max(done.completed, 1)
        self.progress.update(task, total=total, completed=total)
