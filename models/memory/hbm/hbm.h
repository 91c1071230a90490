// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/memory/hbm/written_pages.h"
#include "models/soc/sensors/activity.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/register_socket.h"
#include "platform/framework/tlm/armed_errors.h"
#include "platform/framework/tlm/backing_store.h"
#include "platform/framework/tlm/bandwidth_resource.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/route.h"
#include "platform/framework/tlm/target_socket.h"
#include "platform/framework/tlm/traffic_watcher.h"

namespace trn {

/// One HBM3e stack: sparse storage, access timing, ECC faults, and bring-up registers for firmware.
/// Spec: doc/models/memory/hbm.md.
class hbm : public sc_core::sc_module,
            public publishes_statistics,
            public accepts_faults,
            public activity_interface,
            public crossing,
            private traffic_watcher {
public:
    struct config {
        std::uint64_t size = 36ull << 30;                    ///< bytes
        std::uint64_t bytes_per_second = 1'228'800'000'000;  ///< peak of the stack
        unsigned sustained_permille = 956;                   ///< of the peak, after refresh
        unsigned pseudo_channels = 32;
        std::uint64_t interleave = 512;  ///< bytes per pseudo-channel before the next one
        sc_core::sc_time read_latency{120, sc_core::SC_NS};
        sc_core::sc_time write_latency{60, sc_core::SC_NS};
        sc_core::sc_time training_time{200, sc_core::SC_US};
        sc_core::sc_time repair_time{1, sc_core::SC_MS};
        bool needs_training = false;  ///< accesses return errors until firmware has trained the PHY
        bool shared = false;          ///< backed by a file descriptor, for a guest's BAR4
    };
    enum class repair_state : std::uint8_t { none, pending, failed };

    target_socket<hbm> in{"in"};                ///< the memory
    register_socket control{"control", regs_};  ///< hbm.regs.yaml
    irq_in power_lost{"power_lost", 1, [this](unsigned, bool level) {
                          if (level) forget();
                      }};
    irq_out error{"error"};  ///< high while an error counter is not zero

    hbm(sc_core::sc_module_name name, const config& cfg);

    /// Injects an error in the atom at `offset`. Firmware repairs repairable errors.
    void inject_error(memory_error error, std::uint64_t offset);
    /// Makes the next repair fail.
    void fail_next_repair() { repair_will_fail_ = true; }
    void set_temperature(unsigned celsius);
    /// Whether an access at the present plus `delay` finds the memory trained.
    bool trained(const sc_core::sc_time& delay = sc_core::SC_ZERO_TIME) const;
    std::uint64_t bytes_moved() const override { return stack_.bytes(); }

    /// The memory's bytes; tests and tools that write to them must call accessed().
    backing_store& bytes() { return bytes_; }
    /// Tracks written pages; DMA from unwritten pages is a misuse.
    void accessed(tlm::tlm_command command, std::uint64_t address, std::uint64_t bytes);
    const config& settings() const { return cfg_; }

    void publish(statistics& out) const override;
    std::vector<fault> faults() override;

private:
    static constexpr std::uint64_t atom = 32;  // burst of 8 on a 32-bit pseudo-channel

    void has_read(std::uint64_t address, std::span<std::uint8_t> bytes) override {
        accessed(tlm::TLM_READ_COMMAND, address, bytes.size());
    }
    void has_written(std::uint64_t address, std::span<const std::uint8_t> bytes) override {
        accessed(tlm::TLM_WRITE_COMMAND, address, bytes.size());
    }
    void access_memory(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned peek_memory(tlm::tlm_generic_payload& payload);
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
    sc_core::sc_time reserve(tlm::tlm_command command, std::uint64_t address, std::uint64_t bytes,
                             const sc_core::sc_time& start) override;
    void crossed(tlm::tlm_command command, std::uint64_t bytes, const sc_core::sc_time& start,
                 const sc_core::sc_time& until) override;

    void count_error(memory_error error, std::uint64_t offset, const sc_core::sc_time& delay);
    std::uint64_t status(const sc_core::sc_time& delay) const;
    void command(std::uint64_t written, const sc_core::sc_time& delay);
    void advance();
    void finish_repair();
    void forget();
    void update_error_line(const sc_core::sc_time& delay);
    unsigned pseudo_channel(std::uint64_t address) const;

    const config cfg_;
    backing_store bytes_;
    written_pages written_;
    bool mapped_ = false;  // another process may write without notification
    register_bank regs_;
    bandwidth_resource stack_;
    std::vector<bandwidth_resource> channels_;
    armed_errors errors_;
    bool training_asked_ = false;
    sc_core::sc_time trained_at_;
    repair_state repair_ = repair_state::none;
    bool repairing_ = false, repair_will_fail_ = false;
    sc_core::sc_event repaired_{"repaired"}, trained_{"trained"};
};

}  // namespace trn
