# SPDX-License-Identifier: Apache-2.0
"""Constants that kernels name: data types, memory regions, operators, engines, generations."""
