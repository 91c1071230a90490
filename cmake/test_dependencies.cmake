# SPDX-License-Identifier: Apache-2.0
# Debian 12 packages that only tests and benchmarks use.
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
include(GoogleTest)
