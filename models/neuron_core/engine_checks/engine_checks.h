// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <systemc>

#include "models/neuron_core/engine_checks/race_checker.h"
#include "models/neuron_core/engine_checks/sram_content.h"
#include "models/neuron_core/sequencer/shared/program_lines.h"
#include "models/neuron_core/sequencer/shared/program_observer.h"
#include "platform/framework/misuse/rule.h"

namespace trn {

/// Detects software errors in the programs of one core and reports them as misuse: reads of
/// unwritten SBUF and PSUM, mistakes that engines report, and, while their rules are enabled, tile
/// races and PSUM collisions. Spec: doc/models/neuron_core/engine_checks.md.
class engine_checks final : public isa::program_observer {
public:
    struct contents {
        sram_content &sbuf, &psum;
    };
    engine_checks(const sc_core::sc_object& owner, const isa::partition_sizes& sizes,
                  const contents& memories, const program_lines* lines = nullptr);

    void started(isa::engine e) override;
    void ended(isa::engine e) override;
    bool issues(isa::engine e, std::uint32_t pc, const isa::instruction& i,
                const sc_core::sc_time& complete) override;
    void computed(isa::engine e, std::uint32_t pc, const isa::instruction& i,
                  const isa::mistakes& m) override;
    void accesses(isa::engine e, std::uint32_t pc, const isa::location& first, std::uint32_t bytes,
                  bool writes) override;
    void polled(isa::engine e) override;
    void posts(isa::engine e, unsigned index, bool at_issue) override;
    void waited(isa::engine e, unsigned index) override;
    void rings(isa::engine e, unsigned dma_engine, unsigned queue) override;

    /// Whether race rules are enabled; otherwise the next two calls have no effect.
    bool finds_races() { return races() != nullptr; }
    /// An agent outside the core changed a semaphore or event; `queue`: its DMA queue.
    void posted_from_outside(unsigned index, std::optional<unsigned> queue);
    /// DMA moved bytes of SBUF or PSUM.
    void moved(const race_checker::transfer& t);
    void reset() { races_.reset(); }

private:
    /// Place of the reported instruction.
    struct place {
        isa::engine engine;
        std::uint32_t pc;
        const isa::instruction* instruction = nullptr;  ///< null: REG_LOAD or REG_STORE
    };
    race_checker* races();
    std::string describe(const race_checker::conflict& c) const;
    bool check_races(const place& location, std::vector<race_checker::access> accesses,
                     const sc_core::sc_time& complete);
    bool check_content(const place& location, const isa::tile_operand& t);
    bool has_unwritten(const isa::tile_operand& t, unsigned partition);
    void report(const misuse::rule& broken, const place& location, std::string_view detail);

    const sc_core::sc_object& owner_;
    const isa::partition_sizes sizes_;
    const contents memories_;
    const program_lines* const lines_;   // null: source lines are unknown
    std::optional<race_checker> races_;  ///< only while its rules are enabled
    std::uint64_t revision_ = ~std::uint64_t{0};
};

}  // namespace trn
