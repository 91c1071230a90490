// SPDX-License-Identifier: Apache-2.0
// Checks every register table of the project on a plain bank; new tables are included
// automatically.
#include "tests/support/register_contract.h"

#include "platform/framework/registers/all_tables.h"

namespace {

using namespace trn;

struct block {
    const register_table* table;
    friend void PrintTo(const block& b, std::ostream* out) { *out << b.table->block; }
};

std::vector<block> blocks() {
    std::vector<block> list;
    for (const auto* table : all_register_tables()) list.push_back({table});
    return list;
}

class RegisterTable : public testing::TestWithParam<block> {
protected:
    void check(register_bank& bank, std::uint64_t base) {
        test::register_contract(
            *GetParam().table, [&](auto& p, auto& delay) { bank.access(p, delay); },
            [&](auto& p) { return bank.debug_access(p); }, base)
            .check();
    }
};

TEST_P(RegisterTable, KeepsItsContract) {
    register_bank bank(*GetParam().table);
    check(bank, 0);
}

TEST_P(RegisterTable, KeepsItsContractInTheLastOfSeveralInstances) {
    const std::uint64_t stride = GetParam().table->size + 0x100;
    register_bank bank(*GetParam().table, {.instances = 3, .stride = stride});
    check(bank, 2 * stride);
    EXPECT_FALSE(bank.allocated(0));
}

INSTANTIATE_TEST_SUITE_P(Contract, RegisterTable, testing::ValuesIn(blocks()),
                         [](const auto& p) { return std::string(p.param.table->block); });

}  // namespace
