// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "models/cards/nitro_management/nitro_admin_regs.h"
#include "platform/framework/registers/table_entry.h"

namespace trn::nitro {

using admin_entry = table_entry<nitro_admin_regs::rows>;

enum class status : std::uint8_t {
    ok = nitro_admin_regs::completion::status_ok,
    no_resources = nitro_admin_regs::completion::status_no_resources,
    bad_opcode = nitro_admin_regs::completion::status_bad_opcode,
    unsupported_opcode = nitro_admin_regs::completion::status_unsupported_opcode,
    malformed = nitro_admin_regs::completion::status_malformed,
    illegal_parameter = nitro_admin_regs::completion::status_illegal_parameter,
    unknown_error = nitro_admin_regs::completion::status_unknown_error,
    busy = nitro_admin_regs::completion::status_busy,
};

/// Response to a command: status, and the words of the completion from byte 8 on.
struct answer {
    status result = status::ok;
    admin_entry entry = {};
};

/// A read of memory that a command needs before it can be answered.
struct memory_request {
    static constexpr std::uint32_t max_bytes = 4096;
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;  ///< 1 to max_bytes
};

using step = std::variant<memory_request, answer>;

inline step refuse(status why) {
    return answer{.result = why};
}
/// Success, with a card's own words of the completion from byte 8 on.
template <const auto& Rows>
step answered(const table_entry<Rows>& words) {
    return answer{.result = status::ok, .entry = admin_entry(words.words())};
}
inline step done() {
    return answer{};
}

/// The card that executes the commands of an admin queue, one at a time: begin(), then resume() for
/// each memory_request that the previous step returned, until a step is an answer.
class admin_target {
public:
    virtual step begin(const admin_entry& command) = 0;
    /// `bytes`: content of the requested range; empty if the read failed.
    virtual step resume(std::span<const std::uint8_t> bytes) = 0;
    /// The driver resets the card: discards all objects and work, and the present command.
    virtual void reset_by_driver() = 0;
    /// Raises an MSI-X vector.
    virtual void raise(unsigned vector) = 0;

protected:
    ~admin_target() = default;
};

}  // namespace trn::nitro
