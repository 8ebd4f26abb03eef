"""Runs the command line: `python -m taxkg_assets.serving.cli`."""

from taxkg_assets.serving.cli import main

if __name__ == "__main__":
    main()
