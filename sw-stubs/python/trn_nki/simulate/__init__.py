# SPDX-License-Identifier: Apache-2.0
"""A NumPy reference that executes recorded instructions with the numbers of doc/spec/neuron-core.md, 3."""
