// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/neuron_core/engine_checks/engine_checks.h"
#include "models/neuron_core/neuron_core/semaphore_posters.h"
#include "models/neuron_core/sequencer/sequencer.h"
#include "models/neuron_core/sequencer/shared/program_lines.h"
#include "platform/framework/kernel/introspection.h"

namespace trn {

/// The five engines of a NeuronCore with their control blocks (NeuronCore spec 11). A core
/// constructs them at the first access to a control block, so that cores without programs cost
/// nothing.
class core_engines {
public:
    static constexpr std::uint64_t stride = 0x1000;  ///< bytes from one control block to the next
    static constexpr std::uint64_t size = isa::engine_count * stride;

    struct parts {
        const sc_core::sc_object& owner;
        sequencer_environment::identity id;
        semaphores& sync;
        isa::core_memory& memory;
        memory_port& port;
        std::function<bool(unsigned slot, const notification&)> notify;
        semaphore_posters::peek peek;  ///< reads memory without side effects
        engine_checks::contents contents;
        sc_core::sc_time register_latency;
        sc_core::sc_time act_table_load;
        bool warm_up = false;         ///< models the array's warm-up
        bool operand_crc = false;     ///< records CRCs of operands in traces
        bool outside_is_nan = false;  ///< Scalar functions outside their range return NaN
    };
    explicit core_engines(const parts& p);

    void access(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        control_.access(payload, delay);
    }
    unsigned debug_access(tlm::tlm_generic_payload& payload) {
        return control_.debug_access(payload);
    }
    /// A debug read of the control blocks of engines that are not constructed: their reset values.
    static unsigned debug_read_idle(tlm::tlm_generic_payload& payload, isa::generation generation);
    void reset();
    void set_clock(unsigned permille);
    /// Posts a throttle entry for Tensor: clocks run at `permille` / 1000 from now on.
    void report_clock(unsigned permille);
    engine_checks& checks() { return checks_; }

    sequencer& sequencer_of(isa::engine e) { return *engines_[static_cast<unsigned>(e)]; }
    const sequencer& sequencer_of(isa::engine e) const {
        return *engines_[static_cast<unsigned>(e)];
    }
    void on_break(std::function<void(const std::string&)> hit) {
        environment_.pause = std::move(hit);
    }
    std::optional<std::string> describe_wait() const;
    const array_activity& array() const { return environment_.array; }
    /// Work of all engines since power-on.
    std::uint64_t bf16_flops() const { return environment_.bf16_flops; }
    std::uint64_t sram_bytes() const { return environment_.sram_bytes; }
    void publish(statistics& out) const;

private:
    void publish(statistics& out, isa::engine e) const;
    std::vector<semaphore_posters::program> programs() const;
    void show_states();
    static void set_reset_values(register_bank& control, isa::generation generation);

    register_bank control_;
    program_lines lines_;
    semaphore_posters posters_;
    engine_checks checks_;
    sequencer_environment environment_;
    std::array<std::unique_ptr<sequencer>, isa::engine_count> engines_;
};

}  // namespace trn
