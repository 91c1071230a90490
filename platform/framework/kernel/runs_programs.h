// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace trn {

/// A module whose engines run programs of their own (a NeuronCore), as debuggers and waveforms see
/// it. An engine that was never started answers as idle and is not made for the question.
class runs_programs {
public:
    struct program_state {
        std::string state;        ///< "waiting"
        std::string wait;         ///< "waits for S[4] >= 16, which is 2"; "": for nothing
        std::string instruction;  ///< at `pc`, as the assembler writes it; "": not buffered
        std::string error;        ///< of a failed engine
        std::uint32_t pc = 0, retired = 0;
        std::vector<std::uint32_t> registers;
    };
    enum class command : std::uint8_t { stop, resume, step };

    /// Names of all engines: an engine's number is its place.
    virtual std::vector<std::string_view> engine_names() const = 0;
    virtual bool has_started(unsigned engine) const = 0;
    virtual program_state inspect(unsigned engine) const = 0;
    /// State and pc as numbers, for waveforms.
    virtual std::uint32_t state_number(unsigned engine) const = 0;
    virtual std::uint32_t pc(unsigned engine) const = 0;

    /// As software would write its control block. Precondition: has_started().
    virtual void order(unsigned engine, command what) = 0;
    /// False while the engine runs, or for a register that it does not have. Precondition:
    /// has_started().
    virtual bool set_register(unsigned engine, unsigned number, std::uint32_t value) = 0;

    /// Calls `hit` before the engine issues the instruction at `pc`, without any effect on the
    /// engine: the caller pauses simulated time.
    virtual void add_break(unsigned engine, std::uint32_t pc) = 0;
    virtual void remove_break(unsigned engine, std::uint32_t pc) = 0;
    virtual std::vector<std::uint32_t> breaks(unsigned engine) const = 0;
    /// The same once, before the next instruction, or when the engine ends. Precondition:
    /// has_started().
    virtual void break_at_next(unsigned engine) = 0;
    virtual void on_break(std::function<void(const std::string& why)> hit) = 0;

protected:
    ~runs_programs() = default;
};

}  // namespace trn
