// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "models/soc/sensors/power.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/tlm/irq.h"

namespace trn {

enum class sled_cooling : std::uint8_t { air, liquid };

/// The baseboard controller of a sled: monitors the chips' power, throttles those above their share
/// when the sled exceeds its budget or temperature limit, controls fans or pump, and switches the
/// chips' power. It runs after each conversion of a chip's sensors and schedules no events. Spec:
/// doc/models/sled/sled_controller.md.
class sled_controller : public sc_core::sc_module,
                        public publishes_statistics,
                        public accepts_faults {
public:
    struct config {
        unsigned chips = 4;
        std::uint64_t chip_budget = 1'100'000;  ///< mW per chip; the sled's budget is the sum
        unsigned release_permille = 900;  ///< chips are released below this share of the budget
        sled_cooling cooling = sled_cooling::liquid;
        double inlet = 30.0;         ///< degrees Celsius of air or liquid at the inlet
        double outlet_limit = 65.0;  ///< degrees Celsius; above, all chips are throttled
        double air_rise = 25.0;  ///< kelvin from inlet to outlet at the whole budget and full speed
        double liquid_rise = 15.0;  ///< likewise, for liquid cooling

        std::uint64_t budget() const { return chip_budget * chips; }  ///< mW
        /// Outlet temperature in degrees Celsius; `speed` of fans or pump: 1 is full speed.
        double outlet(std::uint64_t milliwatts, double speed) const;
    };
    struct counts {
        std::uint64_t throttle_events = 0;  ///< number of times that a chip was throttled
        std::uint64_t power_losses = 0;
    };

    /// The chips, in order.
    sc_core::sc_port<power_interface, 0, sc_core::SC_ZERO_OR_MORE_BOUND> power{"power"};
    sc_core::sc_vector<irq_out> throttle{"throttle"};    ///< per chip; high: slow down
    sc_core::sc_vector<irq_out> power_off{"power_off"};  ///< per chip; high: no power

    sled_controller(sc_core::sc_module_name name, const config& cfg);

    std::uint64_t milliwatts() const;
    /// Speed of fans or pump relative to full speed.
    unsigned speed_permille() const;
    /// Outlet temperature, degrees Celsius.
    double outlet() const;
    bool powered() const { return powered_; }
    const counts& counters() const { return counters_; }

    void publish(statistics& out) const override;
    std::vector<fault> faults() override;

private:
    void start_of_simulation() override;
    void evaluate(const sc_core::sc_time& delay);
    std::uint64_t chip_milliwatts(unsigned chip) const;
    std::uint64_t budget() const { return cfg_.budget() / 1000 * supply_permille_; }
    void switch_power(bool on);

    const config cfg_;
    std::uint64_t supply_permille_ = 1000;  // share of the budget that the working supplies deliver
    std::uint64_t cooling_permille_ = 1000;  // share of full speed that fans or pump can reach
    bool powered_ = true;
    counts counters_;
};

}  // namespace trn
