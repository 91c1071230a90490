# SPDX-License-Identifier: Apache-2.0
"""Running compiled kernels on the virtual platform.

    kernel(a, b)                              # a kernel with @nki.jit: on a platform that lives for the call
    with platform("trn2-chip"): kernel(a, b)  # on another board
    with platform(connect="run"): kernel(a, b)  # on a running platform, by the folder of its sockets
"""
from trn_nki.run.calls import platform, run_kernel
from trn_nki.run.execution import Options, RunError, assemble, execute

__all__ = ["Options", "RunError", "assemble", "execute", "platform", "run_kernel"]
