// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/bench/rows.h"

namespace trn::test {

/// Benchmarks RDMA writes between the EFA cards of two servers, driven by a host in another
/// process. The folders contain the sockets of a platform, and of one with time policy lockstep.
std::vector<bench_row> rdma_rows(const std::string& sockets, const std::string& lockstep);

}  // namespace trn::test
