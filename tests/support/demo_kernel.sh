#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `./dev demo kernel`: runs a transformer layer in NKI on four chips and compares it with NumPy.
set -euo pipefail

trace=${1:-build/layer.perfetto-trace}
echo "scenarios/kernels/sharded_layer.py: each of four chips has two of eight attention heads and a quarter of the MLP."
echo "The kernel is compiled, run on the virtual engines, and compared with NumPy: first with its all-reduces beside the"
echo "matmuls of the next tokens, then between them."
echo
echo "\$ trnvp test scenarios/sharded_layer.yaml --trace $trace"
build/trnvp test scenarios/sharded_layer.yaml --trace "$trace"
echo
echo "https://ui.perfetto.dev opens $trace: each core has a track for each engine, whose spans name the kernel's lines."
