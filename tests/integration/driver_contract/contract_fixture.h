// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "sw-stubs/host/device.h"
#include "sw-stubs/host/pattern.h"
#include "tests/integration/driver_contract/boards.h"

namespace trn::test {

enum class door { in_process, socket };

/// A booted chip with a host at its PCIe function.
class attached_chip {
public:
    virtual ~attached_chip() = default;
    /// Runs `work` as a host program; the driver is unloaded afterwards.
    virtual void run(const trn_options& options, const std::function<void(device&)>& work) = 0;
    /// The platform's log so far.
    virtual std::string log() const = 0;
};

/// \throws std::runtime_error when it does not boot
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
    /// Of the drivers to come.
    trn_options& options() { return options_; }

    /// A driver that has probed and reset the device works, and is unloaded.
    void drive(const std::function<void(device&)>& work);
    /// A driver that has accessed nothing yet.
    void drive_unprobed(const std::function<void(device&)>& work);
    /// The test breaks a rule on purpose: the platform must have reported the rule of this name.
    void expect_misuse(const std::string& rule) { misuses_.push_back(rule); }

    void SetUp() override { chip_ = attach(board(), GetParam().how); }
    void TearDown() override;

private:
    std::unique_ptr<attached_chip> chip_;
    std::vector<std::string> misuses_;
    trn_options options_{};
};

// Helpers shared by the tests.

/// Copies the pattern of `seed` there and back again, and compares.
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
/// A place in a stack; chips with fewer stacks have the first ones.
inline std::uint64_t hbm(device& chip, std::uint32_t stack, std::uint64_t offset) {
    return trn_hbm_address(chip, stack % chip.info().stacks, offset);
}
/// An engine of the cores; chips with fewer engines have the first ones.
inline std::uint32_t engine_of(device& chip, std::uint32_t number) {
    return number % (chip.info().cores * 16);
}
/// Polls every 10 us of the device's time, for at most 100 ms.
bool eventually(device& chip, const std::function<bool()>& condition);

}  // namespace trn::test
