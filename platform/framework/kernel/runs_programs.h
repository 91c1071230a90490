// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace trn {

/// Interface of a module with engines that run programs (a NeuronCore), for debuggers. An
/// engine that was never started is reported as idle, and is not constructed for that.
class runs_programs {
public:
    struct program_state {
        std::string state;  ///< "waiting"
        std::string wait;   ///< "waits for S[4] >= 16, which is 2"; "": does not wait
        /// instruction at `pc` as the assembler writes it; "": not buffered
        std::string instruction;
        std::string error;  ///< error of a failed engine
        std::uint32_t pc = 0, retired = 0;
        std::vector<std::uint32_t> registers;
    };
    enum class command : std::uint8_t { stop, resume, step };

    /// Names of all engines; the index is the engine's number.
    virtual std::vector<std::string_view> engine_names() const = 0;
    virtual bool has_started(unsigned engine) const = 0;
    virtual program_state inspect(unsigned engine) const = 0;

    /// Writes the control block like software. Precondition: has_started().
    virtual void order(unsigned engine, command ordered) = 0;
    /// Returns false while the engine runs, or for a register that it does not have. Precondition:
    /// has_started().
    virtual bool set_register(unsigned engine, unsigned number, std::uint32_t value) = 0;

    /// The engine calls the function of on_break() before it issues the instruction at `pc`. The
    /// engine itself is not affected: the callee pauses simulated time.
    virtual void add_break(unsigned engine, std::uint32_t pc) = 0;
    virtual void remove_break(unsigned engine, std::uint32_t pc) = 0;
    virtual std::vector<std::uint32_t> breaks(unsigned engine) const = 0;
    /// Breaks once, before the next instruction or at the engine's end. Precondition:
    /// has_started().
    virtual void break_at_next(unsigned engine) = 0;
    virtual void on_break(std::function<void(const std::string& why)> hit) = 0;

protected:
    ~runs_programs() = default;
};

}  // namespace trn
