// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "sw-stubs/host/machine/device.h"
#include "sw-stubs/host/values/pattern.h"
#include "tests/integration/driver_contract/boards.h"

namespace trn::test {

enum class door { in_process, socket };

/// A booted chip with a host at its PCIe function.
class attached_chip {
public:
    virtual ~attached_chip() = default;
    /// Runs `work` as a host program with a driver; unloads the driver afterwards.
    virtual void run(const trn_options& options, const std::function<void(device&)>& work) = 0;
    /// The platform's log so far.
    virtual std::string log() const = 0;
};

/// Boots a chip.
/// \throws std::runtime_error if it does not boot
std::unique_ptr<attached_chip> attach(const contract_board& which, door how);

struct setting {
    contract_board board;
    door how;
};
/// "Trn3SiliconOverSocket"
std::ostream& operator<<(std::ostream& out, const setting& which);

/// A test of the contract: the same host program over every board and door.
class DriverContract : public testing::TestWithParam<setting> {
protected:
    const contract_board& board() const { return GetParam().board; }
    const contract_map& map() const { return GetParam().board.map; }
    /// Options of drivers started later.
    trn_options& options() { return options_; }

    /// Runs `work` with a driver that has probed and reset the device; unloads it afterwards.
    void drive(const std::function<void(device&)>& work);
    /// Runs `work` with a driver that has not accessed the device.
    void drive_unprobed(const std::function<void(device&)>& work);
    /// Expects the platform to report the misuse rule of this name.
    void expect_misuse(const std::string& rule) { misuses_.push_back(rule); }

    void SetUp() override { chip_ = attach(board(), GetParam().how); }
    void TearDown() override;

private:
    std::unique_ptr<attached_chip> chip_;
    std::vector<std::string> misuses_;
    trn_options options_{};
};

// Helpers shared by the tests.

/// Copies the pattern of `seed` to `address` and back, and compares.
void expect_holds(device& chip, std::uint64_t address, std::uint64_t size, std::uint64_t seed,
                  std::uint32_t core = 0);
void fill(device& chip, std::uint64_t address, std::uint64_t size, std::uint64_t seed,
          std::uint32_t core = 0);
inline std::uint32_t word(device& chip, std::uint64_t offset) {
    std::uint32_t value = 0;
    chip.check(trn_bar_read(chip, offset, &value));
    return value;
}
inline void set_word(device& chip, std::uint64_t offset, std::uint32_t value) {
    chip.check(trn_bar_write_raw(chip, offset, value));
}
/// An address in a stack; `stack` wraps on chips with fewer stacks.
inline std::uint64_t hbm(device& chip, std::uint32_t stack, std::uint64_t offset) {
    return trn_hbm_address(chip, stack % chip.info().stacks, offset);
}
/// An engine of the cores; `number` wraps on chips with fewer engines.
inline std::uint32_t engine_of(device& chip, std::uint32_t number) {
    return number % (chip.info().cores * 16);
}
/// Polls every 10 us of the device's time, for at most 100 ms.
bool eventually(device& chip, const std::function<bool()>& condition);

}  // namespace trn::test
