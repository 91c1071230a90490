# SPDX-License-Identifier: Apache-2.0
"""Implementation of the package `nki`: NKI kernels on virtual NeuronCores (doc/nki.md).

    diagnostics  the place of a call in the kernel's file, and the error that reports it
    values       data types, memory regions, operators, generations: constants that kernels use
    tensors      storage and views
    checks       the rules of doc/spec/neuron-core.md for each operation
    trace        running a kernel's Python, which records its instructions
    simulate     a NumPy reference that executes recorded instructions
    compile      from recorded instructions to the text of an engine program
    run          running compiled kernels on a board
    profile      where the time of a run went
    command.py   trn-nki

A folder imports only from those above it; simulate and compile do not know each other. tests/support/check_arrows.py has the list.
The modules of `nki` import nothing after trace; nki/__init__.py hands them what runs and simulates a kernel.
"""
