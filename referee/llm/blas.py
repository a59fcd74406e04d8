"""How many threads numpy's own products of matrices may start.

An embedder's packs of texts are computed side by side, each in one thread. numpy's own threads would wait for each
other in the many small products of attention, which was twenty times slower on two cores. The package threadpoolctl
lets only one thread at a time change that, and gives up the limit when this one is done; here the last one does.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import numpy as np

_GET, _SET = "scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_"
_HELD = threading.Lock()
_holders = 0
_before = 1


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold the OpenBLAS in numpy's wheels to one thread until the last who asks is done; another BLAS is left alone."""
    global _holders, _before
    blas = _openblas()
    if blas is None:
        yield
        return
    with _HELD:
        _holders += 1
        if _holders == 1:
            _before = getattr(blas, _GET)()
            getattr(blas, _SET)(1)
    try:
        yield
    finally:
        with _HELD:
            _holders -= 1
            if _holders == 0:
                getattr(blas, _SET)(_before)


@lru_cache(maxsize=1)
def _openblas() -> ctypes.CDLL | None:
    folder = Path(np.__file__).parents[1] / "numpy.libs"
    file = next(folder.glob("libscipy_openblas64_*.so"), None)
    library = ctypes.CDLL(str(file)) if file else None
    return library if hasattr(library, _GET) and hasattr(library, _SET) else None
