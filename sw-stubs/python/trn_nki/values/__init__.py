# SPDX-License-Identifier: Apache-2.0
"""Constants that kernels use: data types, memory regions, operators, engines, generations."""
