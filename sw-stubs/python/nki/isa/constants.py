# SPDX-License-Identifier: Apache-2.0
"""Mode arguments of nki.isa calls."""
from trn_nki.values.engines import dge_mode, dma_engine, engine, matmul_perf_mode, nc_version, oob_mode, reduce_cmd

__all__ = ["dge_mode", "dma_engine", "engine", "matmul_perf_mode", "nc_version", "oob_mode", "reduce_cmd"]
