"""What is timed, against what, and how to repeat it: `python -m benchmarks`. Tests never time anything; this does."""

import os

# One core is one core: set before numpy, polars and onnxruntime start their threads.
for _name in ("POLARS_MAX_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
