// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/cards/host_ring/host_ring.h"
#include "models/cards/host_ring/host_writer.h"
#include "models/cards/nitro_management/admin_target.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/memory_port.h"
#include "platform/framework/tlm/pending_access.h"

namespace trn {

/// The management layer that cards of the Nitro family share: registers that the driver reads
/// through memory (readless reads), reset handshake, admin queue with completions, and asynchronous
/// events. Spec: doc/models/cards/nitro_management.md; EFA contract 2 to 5.
class nitro_management : public sc_core::sc_module {
public:
    struct config {
        sc_core::sc_time command_time{10, sc_core::SC_US};  ///< per command; invented
        std::uint32_t version = 0x0001;                     ///< VERSION
        std::uint32_t controller_version = 0x0001'0001;     ///< CONTROLLER_VERSION
        unsigned dma_address_width = 64;                    ///< CAPS
        /// AENQ_CONS_DB is the count of events up to which the card may write (ENA), not the count
        /// of events that the driver has consumed (EFA).
        bool event_count_is_limit = false;
    };
    struct counts {
        std::uint64_t commands = 0, failed_commands = 0;
        std::uint64_t events = 0, lost_events = 0;
        std::uint64_t readless_reads = 0;
    };
    enum class event_group : std::uint16_t {
        link_change = nitro_admin_regs::event::group_link_change,
        fatal_error = nitro_admin_regs::event::group_fatal_error,
        warning = nitro_admin_regs::event::group_warning,
        notification = nitro_admin_regs::event::group_notification,
        keep_alive = nitro_admin_regs::event::group_keep_alive,
    };

    register_bank registers;  ///< nitro_management.regs.yaml

    SC_HAS_PROCESS(nitro_management);
    /// `bus` accesses the driver's memory. The card owns it and forwards invalidations.
    nitro_management(sc_core::sc_module_name name, const config& cfg,
                     tlm::tlm_initiator_socket<64>& bus, nitro::admin_target& card);

    /// Writes an event if the driver's queue has room for it; false if it has none. `details`: the
    /// event's words from byte 16 on, at most 12.
    bool report(event_group group, std::uint16_t syndrome,
                std::span<const std::uint32_t> details = {});
    /// Sets DEV_STS.FATAL_ERROR and reports an event; the card recovers only by a reset.
    void fail(std::uint16_t syndrome);
    /// Faults: the next `count` commands are not executed, or executed without a completion.
    void lose_commands(std::uint64_t count) { lost_commands_ += count; }
    void lose_completions(std::uint64_t count) { lost_completions_ += count; }
    /// These two, for the card's table.
    std::vector<accepts_faults::fault> faults();

    /// Returns to the state after power-on, without calling the card.
    void forget();
    void invalidate(std::uint64_t first, std::uint64_t last);
    const counts& counters() const { return counters_; }
    void publish(statistics& out) const;

private:
    static constexpr std::size_t max_event_details = 12;  // words

    /// A command from its fetch to its completion.
    struct command_state {
        std::uint64_t address = 0;  // of its entry; the driver may move the queue meanwhile
        nitro::admin_entry entry;
        bool fetched = false;
        std::optional<nitro::memory_request> needs;  // the card's outstanding read
        std::array<std::uint8_t, nitro::memory_request::max_bytes> bytes;
    };

    void set_up_registers();
    void answer_register_read(std::uint32_t request);
    std::uint32_t value_at(std::uint32_t offset, bool& known);
    void control_written(std::uint32_t written);
    void completion_queue_written();
    void event_queue_written();
    bool has_room_for_event() const;

    void run();
    /// Each makes a step; false: the process is idle or blocked.
    bool advance();
    bool fetch();
    memory_port::outcome read(std::uint64_t address, void* bytes, std::uint32_t length);
    void take(const nitro::step& next);
    void complete(const nitro::answer& answer);
    void interrupt(unsigned vector);

    const config cfg_;
    nitro::admin_target& card_;
    memory_port memory_;
    host_writer writer_;
    host_ring completions_, events_;
    std::uint16_t posted_ = 0, fetched_ = 0;
    std::optional<command_state> command_;
    std::uint64_t lost_commands_ = 0, lost_completions_ = 0;
    sc_core::sc_event work_;
    pending_access pending_{work_};
    counts counters_;
};

}  // namespace trn
