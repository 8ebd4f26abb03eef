"""Build step that copies the bundled files into the wheel; everything else is in pyproject.toml.

A checkout keeps samples, labels and questions in `data/`, and Dagster's configuration at its root. In a wheel they are
in the folder `bundled` of the package, under the same paths.
"""

from __future__ import annotations

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
BUNDLED = (
    "dagster.yaml",
    "workspace.yaml",
    "data/samples/*.pdf",
    "data/samples/*.txt",
    "data/eval/*.json*",
    "data/training/questions.jsonl",
    "data/training/questions/*.jsonl",
)


class BuildWithBundledFiles(build_py):
    """Build the modules, then copy the bundled files next to them."""

    def run(self) -> None:
        """Build, except for an editable installation, which reads the checkout."""
        super().run()
        if self.editable_mode:
            return
        for source, target in self._bundled_files():
            target.parent.mkdir(parents=True, exist_ok=True)
            self.copy_file(str(source), str(target))

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """List what the build writes, bundled files included."""
        bundled = [] if self.editable_mode else [str(target) for _, target in self._bundled_files()]
        return [*super().get_outputs(include_bytecode), *bundled]

    def _bundled_files(self) -> list[tuple[Path, Path]]:
        folder = Path(self.build_lib) / "taxkg_assets" / "bundled"
        found = [path for pattern in BUNDLED for path in sorted(ROOT.glob(pattern))]
        return [(path, folder / path.relative_to(ROOT)) for path in found]


setup(cmdclass={"build_py": BuildWithBundledFiles})
