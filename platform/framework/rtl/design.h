// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/rtl/pin.h"

namespace trn::rtl {

/// Registers without reset begin with 0 (seed 0), or with random bits of the seed.
struct start_values {
    std::uint32_t seed = 0;
};

/// A verilated top module. The CMake function trnvp_rtl() makes classes of it.
class design {
public:
    using state = std::vector<std::uint8_t>;

    virtual ~design() = default;
    design(const design&) = delete;
    design& operator=(const design&) = delete;

    virtual const std::vector<top_port>& ports() const = 0;
    /// Settles the design. \throws design_stopped
    virtual void evaluate() = 0;
    /// For $time, in picoseconds.
    virtual void set_time(std::uint64_t picoseconds) = 0;
    /// All values of the design, with those of its ports.
    virtual void save(state& copy) = 0;
    virtual void restore(const state& copy) = 0;

protected:
    design() = default;
};

using make_design = std::unique_ptr<design>(const start_values& values);

/// The design does not continue: $finish, $stop, $fatal, $error, a failed assertion, or it does not
/// settle.
class design_stopped : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Where text of $display goes, line by line, while the object exists.
class display_scope {
public:
    using sink = void (*)(void* owner, std::string_view line);
    display_scope(sink receiver, void* owner);
    ~display_scope();
    display_scope(const display_scope&) = delete;
    display_scope& operator=(const display_scope&) = delete;

    /// A part of the text of the design that is being evaluated.
    static void print(std::string_view text);
    /// The last line of $error, $fatal or an assertion, which is not displayed; "" without one.
    static std::string taken_error();

private:
    sink receiver_;
    void* owner_;
    display_scope* outer_;
    std::string line_, error_;

    static display_scope* current_;
};

}  // namespace trn::rtl
