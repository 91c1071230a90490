# SPDX-License-Identifier: Apache-2.0
"""The place of a call in the kernel's file, and the error that reports it."""
