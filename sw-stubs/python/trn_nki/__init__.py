# SPDX-License-Identifier: Apache-2.0
"""Implementation of the package `nki`: NKI kernels on virtual NeuronCores (doc/nki.md).

    values       data types, memory regions, operators, generations: constants that kernels use
    diagnostics  the place of a call in the kernel's file, and the error that reports it
    tensors      storage and views
    checks       the rules of doc/spec/neuron-core.md for each operation
    trace        running a kernel's Python, which records its instructions
    simulate     a NumPy reference that executes recorded instructions

A folder imports only from those above it.
"""
