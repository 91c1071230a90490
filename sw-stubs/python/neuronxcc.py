# SPDX-License-Identifier: Apache-2.0
"""Stands where kernels of another dialect import AWS's compiler: imports it if it is installed, else says what to write."""
import importlib.machinery
import importlib.util
import os
import sys

# Not this file, nor a copy of it.
_others = [folder for folder in sys.path if not os.path.isdir(os.path.join(folder, "trn_nki"))]
_found = importlib.machinery.PathFinder.find_spec("neuronxcc", _others)
if _found is None or _found.loader is None:
    raise ModuleNotFoundError(
        "neuronxcc is not installed, and its dialect of NKI is not supported: write `import nki`, `import nki.language as nl` and "
        '`import nki.isa as nisa` (doc/nki.md, "Other dialects")',
        name="neuronxcc",
    )
sys.modules["neuronxcc"] = importlib.util.module_from_spec(_found)
_found.loader.exec_module(sys.modules["neuronxcc"])
