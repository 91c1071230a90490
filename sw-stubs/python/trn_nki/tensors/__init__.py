# SPDX-License-Identifier: Apache-2.0
"""Storage, and tensors: views of it."""
