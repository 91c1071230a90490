// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "platform/framework/registers/contract.h"

namespace trn::test {

/// The contract of a register block: each violation fails the test.
class register_contract : public trn::block_contract {
public:
    using block_contract::block_contract;

    /// Accesses the block through a bound initiator socket of a driver
    /// (tests/support/tlm_driver.h).
    template <class Driver>
    register_contract(Driver& driver, const register_table& table, std::uint64_t base = 0)
        : trn::block_contract(
              table, [&driver](auto& p, auto& delay) { driver.out->b_transport(p, delay); },
              [&driver](auto& p) { return driver.out->transport_dbg(p); }, base) {}

    void check() {
        for (const auto& violation : violations()) ADD_FAILURE() << violation;
    }
};

}  // namespace trn::test
