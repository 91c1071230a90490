// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "models/cards/nvme/controller/admin_commands.h"
#include "models/cards/nvme/controller/async_events.h"
#include "models/cards/nvme/controller/command_engine.h"
#include "models/cards/nvme/controller/features.h"
#include "models/cards/nvme/controller/health.h"
#include "models/cards/nvme/controller/io_commands.h"
#include "models/cards/nvme/media/medium.h"
#include "models/cards/nvme/queues/queue_set.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/watched_signals.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/register_socket.h"
#include "platform/framework/tlm/irq.h"

namespace trn {

/// An NVMe disk with a PCI Express function: registers, admin and I/O queues, one namespace.
/// Spec: doc/models/cards/nvme_controller.md; NVM Express base specification 1.4.
class nvme_controller : public sc_core::sc_module,
                        public nvme::command_engine::listener,
                        public publishes_statistics,
                        public publishes_signals,
                        public accepts_faults,
                        public describes_wait {
public:
    struct config {
        std::uint64_t capacity = std::uint64_t{1} << 30;  ///< bytes
        unsigned block = 512;                             ///< bytes of a logical block
        std::string image = {};        ///< file with the content; empty: in memory, for one run
        bool read_only_image = false;  ///< written data stays in memory
        std::uint64_t serial = 1;
        std::string model = "Amazon EC2 NVMe Instance Storage";
        unsigned queues = 8;                       ///< I/O queues per direction; at most 64
        unsigned vectors = 9;                      ///< of MSI-X
        std::uint64_t write_cache = 64u << 20;     ///< bytes; invented
        std::uint64_t read_rate = 2'800'000'000;   ///< bytes per second; invented
        std::uint64_t write_rate = 1'400'000'000;  ///< bytes per second; invented
        sc_core::sc_time read_latency{80, sc_core::SC_US};    ///< invented
        sc_core::sc_time write_latency{15, sc_core::SC_US};   ///< into the cache; invented
        sc_core::sc_time flush_latency{500, sc_core::SC_US};  ///< invented
        sc_core::sc_time command_time{10, sc_core::SC_US};    ///< per admin command; invented
        sc_core::sc_time ready_time{2, sc_core::SC_MS};  ///< of enabling and of shutdown; invented
    };
    static constexpr unsigned max_queues = 64;

private:
    register_bank registers_;

public:
    register_socket registers{"registers", registers_};                  ///< BAR0
    tlm_utils::simple_initiator_socket<nvme_controller, 64> dma{"dma"};  ///< bus addresses
    sc_core::sc_vector<irq_out> irq;  ///< rises for each message of an MSI-X vector
    irq_in reset{"reset", 1, [this](unsigned, bool level) {
                     if (level) forget();
                 }};
    /// High: no power. The content of the write cache is lost.
    irq_in no_power{"no_power", 1, [this](unsigned, bool level) {
                        if (level) lose_power();
                    }};

    SC_HAS_PROCESS(nvme_controller);
    /// \throws std::runtime_error if the image cannot be used
    nvme_controller(sc_core::sc_module_name name, const config& cfg);

    nvme::medium& content() { return content_; }
    void publish(statistics& out) const override;
    void publish_signals(signal_list& out) const override;
    std::vector<fault> faults() override;
    std::optional<std::string> describe_wait() const override;

private:
    // nvme::command_engine::listener
    void raise(unsigned vector) override {
        if (vector < irq.size()) irq[vector].pulse();
    }
    void fail() override;
    void failed(const nvme::completion& result, const nvme::command& request) override {
        health_.note_error(result, request);
    }

    void revoke(sc_dt::uint64 first, sc_dt::uint64 last) { engine_.invalidate(first, last); }
    void set_up_registers();
    void configure(std::uint64_t before, std::uint64_t now);
    bool can_start() const;
    void settle();
    void stop();
    void forget();
    void lose_power();
    void doorbell(bool accepted, bool exists);

    const config cfg_;
    nvme::queue_set queues_;
    nvme::medium content_;
    nvme::features features_;
    nvme::health health_;
    nvme::async_events events_;
    nvme::admin_commands admin_;
    nvme::io_commands io_;
    nvme::command_engine engine_;
    std::uint32_t masked_ = 0;  // INTMS
    sc_core::sc_event settled_;
};

}  // namespace trn
