// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "models/processor/riscv/decode/isa.h"

namespace trn::riscv {

struct csr_entry {
    unsigned number;
    std::string name;
};

/// Every CSR that exists, ascending by number.
const std::vector<csr_entry>& csr_list();
/// "unknown" when no CSR has this number.
const std::string& csr_name(unsigned number);

}  // namespace trn::riscv
