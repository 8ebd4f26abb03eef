"""Programs for those who work on taxkg: figures of the code, checked by `make check`."""
