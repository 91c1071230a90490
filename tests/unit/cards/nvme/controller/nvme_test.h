// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "platform/framework/kernel/fault_arguments.h"
#include "tests/unit/cards/nvme/controller/disk_driver.h"

namespace trn::test {

/// A disk with its driver, and places for data in memory.
struct nvme_test : testing::Test {
    static constexpr std::uint64_t data = 0x100000, other = 0x200000;

    explicit nvme_test(const nvme_controller::config& cfg = {.capacity = 64 << 20}) : host(cfg) {
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    void fill(std::uint64_t at, std::uint64_t size, unsigned seed) {
        for (std::uint64_t i = 0; i < size; ++i)
            host.bytes(at)[i] = static_cast<std::uint8_t>(seed + i * 31 + (i >> 12));
    }
    bool same(std::uint64_t a, std::uint64_t b, std::uint64_t size) {
        return std::equal(host.bytes(a), host.bytes(a) + size, host.bytes(b));
    }
    unsigned write(std::uint64_t block, std::uint32_t count, std::uint64_t at = data) {
        return host.execute(1, disk_driver::io(1, block, count, at)).status();
    }
    unsigned read(std::uint64_t block, std::uint32_t count, std::uint64_t at = other) {
        return host.execute(1, disk_driver::io(2, block, count, at)).status();
    }
    void inject(const std::string& name, const fault_arguments& arguments = {}) {
        host.disk.inject(name, arguments);
    }

    disk_driver host;
};

}  // namespace trn::test
