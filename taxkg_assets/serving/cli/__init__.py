"""The command `taxkg`: parse, call, render. One module per group of commands.

Exit status: 0 done, 1 failed, 2 bad usage or a name that does not exist, 3 built with documents in quarantine. Each
command imports what it needs when it runs, so that a question starts in a fraction of a second.
"""

from taxkg_assets.serving.cli import build, forms, query, review, servers, verify
from taxkg_assets.serving.cli.application import app, main

__all__ = ["app", "build", "forms", "main", "query", "review", "servers", "verify"]
