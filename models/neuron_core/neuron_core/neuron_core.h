// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/neuron_core/neuron_core/engines.h"
#include "models/soc/notification_queue/notifying_module.h"
#include "models/soc/semaphores/semaphores.h"
#include "models/soc/sensors/activity.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/runs_programs.h"
#include "platform/framework/kernel/watched_signals.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/armed_errors.h"
#include "platform/framework/tlm/backing_store.h"
#include "platform/framework/tlm/bandwidth_resource.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/route.h"
#include "platform/framework/tlm/traffic_watcher.h"
#include "platform/framework/tlm/window_socket.h"

namespace trn {

/// A NeuronCore (TPB): an aperture with SBUF, PSUM, events, semaphores and the engines' control
/// blocks, and registers in the die's register space. Spec: doc/models/neuron_core/neuron_core.md.
class neuron_core : public notifying_module,
                    public publishes_statistics,
                    public describes_wait,
                    public accepts_faults,
                    public runs_programs,
                    public publishes_signals,
                    public compute_activity_interface,
                    private isa::core_memory,
                    private traffic_watcher {
public:
    enum class activation_outside : std::uint8_t { ideal, nan };
    struct config {
        std::uint64_t sbuf_size = 32 << 20;                   ///< bytes: 128 x 256 KiB
        std::uint64_t psum_size = 2 << 20;                    ///< bytes: 128 x 16 KiB
        std::uint64_t bytes_per_second = 10'000'000'000'000;  ///< total of SBUF and PSUM
        sc_core::sc_time access_latency{50, sc_core::SC_NS};  ///< 60 cycles at 1.2 GHz
        sc_core::sc_time register_latency{50, sc_core::SC_NS};
        std::uint64_t clock_hz = 2'400'000'000;  ///< clock of the PE counters
        unsigned crossbars = 9;             ///< crossbars per row group in the PE counters: 9 or 5
        std::uint64_t top_size = 0x180000;  ///< size of TPB_TOP with its blocks: contract 3.2
        std::uint64_t notifications_offset = 0x1000;  ///< contract 9
        std::uint64_t pe_counters_offset = 0x141000;
        std::uint64_t sram_errors_offset = 0x160000;  ///< invented
        unsigned generation = 4;                      ///< generation of the engines: 2, 3 or 4
        unsigned number = 0;                          ///< number of the core in its chip
        unsigned chip = 0;                            ///< routing id of the chip
        std::uint64_t dma_base = 0;  ///< register address of the first of its 16 DMA engines
        std::uint64_t dma_stride = 0x100000;  ///< from one DMA engine to the next
        unsigned throttled_permille = 500;    ///< clock rate of throttled engines; invented
        std::uint64_t aperture_base = 0;      ///< address of its aperture for its DMA engines
        /// time to load a table of functions; invented
        sc_core::sc_time act_table_load{1, sc_core::SC_US};
        bool warm_up = false;      ///< the array is slow after it was idle
        bool operand_crc = false;  ///< records CRCs of operands in traces
        /// Result of a Scalar function for arguments outside its range.
        neuron_core::activation_outside activation_outside = activation_outside::ideal;
    };
    static constexpr std::uint64_t psum_offset = 0x0200'0000;        // invented: follows the SBUF
    static constexpr std::uint64_t semaphores_offset = 0x0270'0000;  // contract 3.3
    static constexpr std::uint64_t engines_offset = 0x0280'0000;     // invented
    static constexpr std::uint64_t aperture_size = 0x0400'0000;

    window_socket aperture{"aperture"};
    window_socket top{"top"};  ///< TPB_TOP registers
    irq_in reset;
    irq_in power_lost{"power_lost", 1, [this](unsigned, bool level) {
                          if (level) forget();
                      }};
    irq_out error{"error"};  ///< high while an error counter is not zero

    neuron_core(sc_core::sc_module_name name, const config& cfg);

    semaphores& sync() { return semaphores_; }
    backing_store& sbuf() { return sbuf_; }
    backing_store& psum() { return psum_; }

    std::uint64_t bf16_flops() const override { return engines_ ? engines_->bf16_flops() : 0; }
    std::uint64_t sram_bytes() const override { return engines_ ? engines_->sram_bytes() : 0; }
    void set_throttled(bool throttled, bool notify) override;
    void publish(statistics& out) const override;
    void publish_signals(signal_list& out) const override;
    std::optional<std::string> describe_wait() const override;
    std::vector<fault> faults() override;

    // runs_programs
    std::vector<std::string_view> engine_names() const override;
    bool has_started(unsigned engine) const override;
    program_state inspect(unsigned engine) const override;
    void order(unsigned engine, command ordered) override;
    bool set_register(unsigned engine, unsigned number, std::uint32_t value) override;
    void add_break(unsigned engine, std::uint32_t pc) override;
    void remove_break(unsigned engine, std::uint32_t pc) override;
    std::vector<std::uint32_t> breaks(unsigned engine) const override;
    void break_at_next(unsigned engine) override;
    void on_break(std::function<void(const std::string& why)> hit) override;

private:
    std::uint32_t state_number(unsigned engine) const;
    std::uint32_t pc(unsigned engine) const;
    void map_aperture();
    void access_semaphores(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned peek_semaphores(tlm::tlm_generic_payload& payload) {
        return semaphores_.debug_access(payload);
    }
    void access_engines(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned peek_engines(tlm::tlm_generic_payload& payload);
    void access_sram(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned peek_sram(tlm::tlm_generic_payload& payload);
    unsigned copy_sram(tlm::tlm_generic_payload& payload,
                       unsigned (&copy)(tlm::tlm_generic_payload&, std::uint8_t*, std::uint64_t));
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
    void reset_changed(bool level);
    void show_pe_counters();
    template <typename Reg>
    void show_pe_counters();
    bool is_memory(std::uint64_t offset) const;
    unsigned clock_permille() const { return throttled_ ? cfg_.throttled_permille : 1000; }
    void count_error(memory_error error, std::uint64_t offset, const sc_core::sc_time& delay);
    void clear_errors(const sc_core::sc_time& delay);
    void update_error_line(const sc_core::sc_time& delay);
    void forget();
    core_engines& engines();
    unsigned peek_memory(std::uint64_t address, std::span<std::uint8_t> bytes);
    sequencer& started(unsigned engine);

    // isa::core_memory
    std::uint8_t* bytes(isa::space memory) override;
    std::uint32_t partition_bytes(isa::space memory) const override;
    bool has_errors() const override { return !armed_.empty(); }
    bool check_read(isa::location first, std::uint32_t length) override;
    void written(isa::location first, std::uint32_t length) override;

    // traffic_watcher: initiators that copy through a pointer
    void has_read(std::uint64_t address, std::span<std::uint8_t> bytes) override;
    void has_written(std::uint64_t address, std::span<const std::uint8_t> bytes) override;
    void outside_access(tlm::tlm_command command, std::uint64_t address, std::uint64_t bytes);
    void outside_post(const tlm::tlm_generic_payload& payload);
    std::optional<unsigned> own_queue() const;

    bool pass_errors(tlm::tlm_command command, isa::location first, std::uint32_t length);

    const config cfg_;
    backing_store sbuf_, psum_;
    bool throttled_ = false;
    sram_content sbuf_content_{sbuf_.data(), cfg_.sbuf_size};
    sram_content psum_content_{psum_.data(), cfg_.psum_size};
    semaphores semaphores_;
    register_bank pe_counters_, errors_;
    armed_errors armed_;  // by offset in the aperture
    bandwidth_resource memories_;
    bandwidth_crossing port_{*this, memories_};
    std::unique_ptr<core_engines> engines_;  // constructed at the first access to a control block
};

}  // namespace trn
