// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "models/soc/sensors/activity.h"
#include "models/soc/sensors/power.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/watched_signals.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/target_socket.h"

namespace trn {

/// Power monitors and thermal diodes. There is a conversion per sample period, computed only when a
/// register is read, so an idle sensor schedules nothing. Power follows the activity since the last
/// conversion; temperature follows power with one thermal resistance and time constant per diode. A
/// small ripple, which depends on seed and sample number, makes samples differ. Spec:
/// doc/models/soc/sensors.md.
class sensors : public sc_core::sc_module,
                public accepts_faults,
                public power_interface,
                public publishes_statistics,
                public publishes_signals {
public:
    struct config {
        sc_core::sc_time sample_period{10, sc_core::SC_MS};
        std::uint64_t rated_power = 500'000;               ///< mW per die at full activity
        std::uint64_t idle_power = 90'000;                 ///< mW per die
        std::uint64_t rated_activity = 2'457'600'000'000;  ///< bytes/s per die: two HBM stacks
        std::uint64_t rated_flops = 314'572'800'000'000;   ///< BF16 operations per second and die
        std::uint64_t rated_sram = 9'830'400'000'000;      ///< bytes/s per die of SBUF and PSUM
        unsigned dies = 2;                                 ///< at most 2
        double ambient = 35.0;                             ///< degrees Celsius, of the coolant
        double die_resistance = 0.08;                      ///< kelvin per watt
        double hbm_resistance = 0.06;                      ///< kelvin per watt of the die
        sc_core::sc_time time_constant{2, sc_core::SC_SEC};
        double trip = 125.0;                                  ///< degrees Celsius
        sc_core::sc_time access_latency{20, sc_core::SC_NS};  ///< per register access
    };
    static constexpr unsigned max_dies = 2;
    static constexpr unsigned diodes = 6;  ///< dies first, then HBM stacks

    target_socket<sensors> in{"in"};
    /// The HBM stacks in order. All dies have the same number; those of die 0 come first.
    sc_core::sc_port<activity_interface, 4, sc_core::SC_ZERO_OR_MORE_BOUND> activity{"activity"};
    /// The NeuronCores in order, likewise.
    sc_core::sc_port<compute_activity_interface, 16, sc_core::SC_ZERO_OR_MORE_BOUND> compute{
        "compute"};
    irq_in reset{"reset", 1, [this](unsigned, bool level) {
                     if (level) clear();
                 }};
    /// High: the sled throttles the chip. Firmware reads it; the DMA engines slow down.
    irq_in throttle{"throttle", 1, [this](unsigned, bool level) { throttled_by_sled(level); }};
    irq_out irq{"irq"};
    irq_out throttled{"throttled"};  ///< to the DMA engines
    irq_out trip{"trip"};            ///< high when a diode reaches the trip temperature

    sensors(sc_core::sc_module_name name, const config& cfg);

    const config& settings() const { return cfg_; }
    std::uint64_t milliwatts() const override;
    std::int32_t hottest_millidegrees() const override;
    void on_conversion(conversion_callback done) override { converted_.push_back(std::move(done)); }
    std::vector<fault> faults() override;
    /// In watts and degrees Celsius, of the last conversion that software has read.
    void publish_signals(signal_list& out) const override;
    /// Counters up to the last conversion.
    void publish(statistics& out) const override {
        out.count("dynamic_microjoules", static_cast<std::uint64_t>(dynamic_microjoules_));
    }

private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        sample(delay);
        regs_.access(payload, delay);
    }
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
        return regs_.debug_access(payload);
    }

    void clear();
    void throttled_by_sled(bool level);
    void sample(const sc_core::sc_time& delay);
    /// Work since power-on.
    struct work {
        std::uint64_t memory = 0, flops = 0, sram = 0;  ///< bytes, operations, bytes
    };
    work work_of(unsigned die);
    double utilisation(unsigned die, double seconds);
    std::uint64_t convert_power(unsigned die, double seconds, std::uint64_t number);
    void convert_temperature(unsigned diode, double seconds);
    double ripple(unsigned die, std::uint64_t number) const;
    void update_lines(const sc_core::sc_time& delay);

    const config cfg_;
    const std::uint64_t seed_;
    register_bank regs_;
    std::uint64_t conversions_ = 0;                 // number of conversions since the start
    bool is_shown_ = false;                         // the registers contain the last one
    std::array<work, max_dies> done_{};             // at the last conversion
    std::array<double, max_dies> dynamic_power_{};  // mW, of the last conversion
    double dynamic_microjoules_ = 0;                // energy of all work since power-on
    std::array<double, diodes> kelvin_over_ambient_{};
    std::vector<conversion_callback> converted_;  // callbacks after each conversion
    std::array<double, diodes> injected_{};       // faults: added kelvin
};

}  // namespace trn
