"""Progress bars in the terminal for the progress that stages report: one line for each running stage.

A finished stage leaves the screen; those that took a while are listed above the bars, so that the display stays within
a small terminal.
"""

from __future__ import annotations

import time
from datetime import timedelta
from types import TracebackType

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from taxkg_assets.defs.wiring.progress import listening
from taxkg_assets.serving.terminal import Terminal

LISTED_SECONDS = 2.0
"""Time from which a finished stage is listed."""

MOST_BARS = 12
"""Stages on the screen at once; further ones are counted only."""


class _LeftColumn(ProgressColumn):
    """The pages that were read, and the time left: as estimated by the stage, or by the units that are done."""

    max_refresh = 1.0

    def render(self, task: Task) -> Text:
        pages, seconds = task.fields.get("pages"), task.fields.get("seconds_left", task.time_remaining)
        words = [f"{pages:,} pages"] if pages else []
        if seconds is not None and not task.finished:
            words.append(f"{timedelta(seconds=round(seconds))} left")
        return Text(", ".join(words))


class ProgressBars:
    """One progress bar per running stage, on standard error; hidden if standard error is not a terminal."""

    def __init__(self) -> None:
        console = Terminal(stderr=True)
        self.progress = Progress(
            SpinnerColumn(finished_text="[green]✓"),
            TextColumn("{task.description:<12}"),
            BarColumn(bar_width=16),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            _LeftColumn(),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self.tasks: dict[str, TaskID] = {}
        self.started: dict[str, float] = {}
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
        """Show a stage's progress bar, a pulsing one if the total is unknown.

        Args:
            stage: Name of the stage; a stage that runs again replaces its previous bar.
            total: Number of its units; 0 if unknown.
        """
        if stage in self.tasks:
            self.progress.remove_task(self.tasks[stage])
        is_shown = sum(task.visible for task in self.progress.tasks) < MOST_BARS
        self.tasks[stage] = self.progress.add_task(stage, total=total or None, visible=is_shown)
        self.started[stage] = time.monotonic()

    def advance(self, stage: str, count: int = 1) -> None:
        """Advance a stage's progress bar.

        Args:
            stage: Name of the stage.
            count: Number of further units done.
        """
        if stage in self.tasks:
            self.progress.advance(self.tasks[stage], count)

    def set_progress(self, stage: str, done: int, total: int) -> None:
        """Set the total and progress of a bar that started without a total.

        Args:
            stage: Name of the stage.
            done: Number of units done.
            total: Number of its units.
        """
        if stage in self.tasks:
            self.progress.update(self.tasks[stage], completed=done, total=total)

    def estimate(self, stage: str, pages: int, seconds_left: float) -> None:
        """Show the pages that were read, and the time left.

        Args:
            stage: Name of the stage.
            pages: Pages that were read.
            seconds_left: Estimated time until all documents are read.
        """
        if stage in self.tasks:
            self.progress.update(self.tasks[stage], pages=pages, seconds_left=seconds_left)

    def finish(self, stage: str) -> None:
        """Remove a stage's progress bar, and print its time if it took long.

        Args:
            stage: Name of the stage.
        """
        task = self.tasks.pop(stage, None)
        if task is None:  # two runs of the stage shared the bar, and the other one has removed it
            return
        done = next(bar for bar in self.progress.tasks if bar.id == task)
        count = int(done.total or max(done.completed, 1))
        seconds = time.monotonic() - self.started.pop(stage)
        self.progress.remove_task(task)
        if seconds >= LISTED_SECONDS and not self.progress.disable:
            self.progress.console.print(f"[green]✓[/] {stage:<24} {count:>6,}  {seconds:6.1f} s", highlight=False)
