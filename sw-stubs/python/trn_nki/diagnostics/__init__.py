# SPDX-License-Identifier: Apache-2.0
"""Where a call stands in the kernel's file, and the error that says so."""
