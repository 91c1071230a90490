// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/dma/udma/engine.h"
#include "models/soc/notification_queue/notification_queue.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/watched_signals.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/memory_port.h"
#include "platform/framework/tlm/target_socket.h"

namespace trn {

/// A group of DMA engines: those of a SENG, or the host-transfer engines of a die. One aperture
/// with a slot per engine (UDMA registers; in larger slots followed by the SDMA block: misc
/// registers and notification queues), and one process for all. Separate SDMA blocks are at `misc`.
/// An engine is created by its first doorbell; registers take memory from their first write on.
/// Spec: doc/models/dma/udma.md.
class udma : public sc_core::sc_module,
             public publishes_statistics,
             public describes_wait,
             public publishes_signals,
             public accepts_faults {
public:
    struct config {
        unsigned engines = 32;
        unsigned first_engine = 0;           ///< number of engine 0 in the chip
        std::uint64_t stride = 1u << 20;     ///< bytes from engine to engine
        std::uint64_t misc_stride = 0x2000;  ///< bytes from SDMA block to SDMA block, in `misc`
        bool host_transfer = false;          ///< rings belong to the driver, not to a core
        unsigned reset_lines = 2;            ///< each line resets an equal part of the group
        std::uint64_t bytes_per_second = 38'400'000'000;  ///< of one engine
        unsigned throttled_permille = 500;  ///< of that rate, while throttled; invented
        sc_core::sc_time start_latency{1300, sc_core::SC_NS};  ///< doorbell to first fetch
        sc_core::sc_time descriptor_overhead{16, sc_core::SC_NS};
        sc_core::sc_time register_latency{50, sc_core::SC_NS};
        sc_core::sc_time stream_timeout{10, sc_core::SC_MS};
        sc_core::sc_time functional_step{10, sc_core::SC_NS};
        unsigned outstanding = 32;  ///< transfers in flight per engine
        /// No transfer starts while this many bytes are in flight: limits how far one engine can be
        /// ahead of another at a shared link.
        std::uint64_t outstanding_bytes = 256 << 10;
        unsigned compute_permille = 1000;    ///< of the rate, for casts and reductions; invented
        unsigned transpose_permille = 900;   ///< for transposes
        bool near_memory_accumulate = true;  ///< accumulation at the rate of a copy
        bool fp8_e4m3fn = true;              ///< engines support this format
        bool descriptor_generator = true;    ///< in slots with an SDMA block
        /// Of a command of the descriptor generator.
        sc_core::sc_time generation_latency{600, sc_core::SC_NS};
    };
    static constexpr std::uint64_t engine_size = 0x40000;  ///< contract 6.1: UDMA registers
    static constexpr std::uint64_t misc_size = 0x2000;     ///< misc registers, notification queues
    static constexpr std::uint64_t generator_offset = 0x42000;  ///< in a slot; invented

    target_socket<udma> registers{"registers"};
    optional_target_socket<udma> misc{"misc"};
    tlm_utils::simple_initiator_socket<udma, 64> memory{"memory"};
    irq_in reset;
    irq_in throttle{"throttle", 1, [this](unsigned, bool level) { slow_down(level); }};
    irq_out aborted{"aborted"};  ///< an abort that firmware has not acknowledged

    SC_HAS_PROCESS(udma);
    udma(sc_core::sc_module_name name, const config& cfg);

    /// Aborts a queue, as a hardware failure would. No effect while the engine is in reset.
    void abort_queue(unsigned engine, unsigned queue);
    dma_engine::counters count(unsigned engine) const;
    /// Whether a queue has descriptors that are posted and not complete.
    bool busy() const;
    bool engine_exists(unsigned engine) const { return engines_[engine] != nullptr; }
    const config& settings() const { return cfg_; }

    void publish(statistics& out) const override;
    std::optional<std::string> describe_wait() const override;
    void publish_signals(signal_list& out) const override;
    std::vector<fault> faults() override;

private:
    /// Target of an access: the registers of a part of an engine, and the address in them.
    struct place {
        register_bank* part = nullptr;  ///< null: a hole
        unsigned engine = 0;
        std::uint64_t address = 0;
    };

    void access_slot(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        access(payload, delay, find_in_slot(payload.get_address()));
    }
    void access_misc(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        access(payload, delay, find_in_misc(payload.get_address()));
    }
    unsigned peek_slot(tlm::tlm_generic_payload& payload) {
        return peek(payload, find_in_slot(payload.get_address()));
    }
    unsigned peek_misc(tlm::tlm_generic_payload& payload) {
        return peek(payload, find_in_misc(payload.get_address()));
    }
    void access(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay, const place& target);
    unsigned peek(tlm::tlm_generic_payload& payload, const place& target);
    place find_in_slot(std::uint64_t address);
    place find_in_misc(std::uint64_t address);
    void invalidate_windows(sc_dt::uint64 first, sc_dt::uint64 last) {
        memory_port_.invalidate(first, last);
    }

    void hook_queues();
    void hook_states();
    void hook_generator();
    void hook_interrupt_groups();
    dma_engine& engine(unsigned number);
    void enables_changed(unsigned number);
    std::uint64_t state(unsigned number, dma_side side) const;
    void slow_down(bool throttled);
    void reset_engine(unsigned n);
    void reset_part(unsigned line, bool level);
    unsigned reset_line_of(unsigned engine) const;
    bool in_reset(unsigned engine) const { return reset.level(reset_line_of(engine)); }
    void update_aborted(const sc_core::sc_time& delay = sc_core::SC_ZERO_TIME);

    void run();
    std::size_t next_due() const;
    bool is_due(std::size_t place, const sc_core::sc_time& now) const {
        return place < used_.size() && group_.turns[place].due <= now;
    }
    void schedule();
    void wake_for(std::size_t place, const sc_core::sc_time& now);

    const config cfg_;
    memory_port memory_port_;
    register_bank regs_;
    register_bank misc_regs_;
    register_bank generator_regs_;
    notification_queue notifications_;
    dma_group group_;
    std::vector<std::unique_ptr<dma_engine>> engines_;
    std::vector<dma_engine*> used_;  // in order of first use, like group_.turns
    std::size_t turn_ = 0;  // index of the engine served first among those due at the same time
    sc_core::sc_event wake_{"wake"};            // of due work
    sc_core::sc_event responded_{"responded"};  // a memory that has deferred an access
    std::unique_ptr<std::mt19937_64> random_;   // random source of faults
};

}  // namespace trn
