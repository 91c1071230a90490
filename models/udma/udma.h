// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/notification_queue/notification_queue.h"
#include "models/udma/engine.h"
#include "platform/kernel/introspection.h"
#include "platform/registers/register_bank.h"
#include "platform/tlm/irq.h"
#include "platform/tlm/memory_port.h"

namespace trn {

/// A group of DMA engines: the 32 of a SENG, or the two host-transfer engines of a die. One
/// aperture with a slot per engine (UDMA registers, SDMA misc at +0x40000, notification queues at
/// +0x41000), one process for all of them. An engine is an object from its first doorbell on, its
/// registers take memory from their first write on. Spec: doc/models/udma.md.
class udma : public sc_core::sc_module,
             public publishes_statistics,
             public describes_wait,
             public accepts_faults {
public:
    struct config {
        unsigned engines = 32;
        unsigned first_engine = 0;                             ///< number of engine 0 in the chip
        std::uint64_t stride = 1u << 20;                       ///< bytes from engine to engine
        std::uint64_t bytes_per_second = 38'400'000'000;       ///< of one engine
        sc_core::sc_time start_latency{1300, sc_core::SC_NS};  ///< doorbell to first fetch
        sc_core::sc_time descriptor_overhead{16, sc_core::SC_NS};
        sc_core::sc_time register_latency{50, sc_core::SC_NS};
        sc_core::sc_time stream_timeout{10, sc_core::SC_MS};
        sc_core::sc_time functional_step{10, sc_core::SC_NS};
        unsigned outstanding = 32;  ///< transfers in flight per engine
    };
    /// Each holds half of the group in reset: the 16 engines of one NeuronCore, or one engine.
    static constexpr unsigned reset_lines = 2;

    tlm_utils::simple_target_socket<udma, 64> registers{"registers"};
    tlm_utils::simple_initiator_socket<udma, 64> memory{"memory"};
    irq_in reset;
    irq_out aborted{"aborted"};  ///< high while some queue of the group is stopped by an error

    SC_HAS_PROCESS(udma);
    udma(sc_core::sc_module_name name, const config& cfg);

    /// Aborts a queue as failing hardware would.
    void abort_queue(unsigned engine, unsigned queue);
    dma_engine::counters count(unsigned engine) const;
    /// Some queue has descriptors posted and not completed.
    bool busy() const;
    bool engine_exists(unsigned engine) const { return engines_[engine] != nullptr; }
    const config& settings() const { return cfg_; }

    void publish(statistics& out) const override;
    std::optional<std::string> describe_wait() const override;
    std::vector<fault> faults() const override;
    void inject(std::string_view fault, const fault_arguments& arguments) override;

private:
    enum class part { engine, misc, notifications, hole };

    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(tlm::tlm_generic_payload& payload);
    void invalidate_windows(sc_dt::uint64 first, sc_dt::uint64 last) {
        memory_port_.invalidate(first, last);
    }
    part select(tlm::tlm_generic_payload& payload) const;

    void hook_queues();
    void hook_states();
    void hook_interrupt_groups();
    dma_engine& engine(unsigned number);
    std::uint64_t state(unsigned number, dma_side side) const;
    void reset_half(unsigned line, bool level);
    bool in_reset(unsigned engine) const;
    void update_aborted();

    void run();
    dma_engine* next_due();
    void schedule();
    void wait_for_memory(sc_core::sc_event* notification_ready);

    const config cfg_;
    memory_port memory_port_;
    register_bank regs_;
    register_bank misc_;
    notification_queue notifications_;
    dma_group group_;
    std::vector<std::unique_ptr<dma_engine>> engines_;
    std::vector<dma_engine*> used_;  // in order of first use
    std::size_t turn_ = 0;           // who is asked first among those due at one time
    sc_core::sc_event wake_;
    std::unique_ptr<sc_core::sc_event_or_list> memory_answers_;
};

}  // namespace trn
