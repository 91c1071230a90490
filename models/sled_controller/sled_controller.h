// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "models/sensors/power.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/tlm/irq.h"

namespace trn {

enum class sled_cooling : std::uint8_t { air, liquid };

/// The baseboard controller of a sled: monitors its chips' power, throttles those above their share
/// when the sled is over its budget or too hot, sets fans or pump, and switches the chips' power.
/// It runs after a conversion of a chip's sensors and schedules no events. Spec:
/// doc/models/sled_controller.md.
class sled_controller : public sc_core::sc_module,
                        public publishes_statistics,
                        public accepts_faults {
public:
    struct config {
        unsigned chips = 4;
        std::uint64_t chip_budget = 1'100'000;  ///< mW; the sled has as much as all its chips
        unsigned release_permille = 900;        ///< of the budget, below which chips are released
        sled_cooling cooling = sled_cooling::liquid;
        double inlet = 30.0;         ///< degrees Celsius of the air or liquid at the inlet
        double outlet_limit = 65.0;  ///< degrees Celsius from which all chips are throttled
        double air_rise = 25.0;      ///< kelvin from inlet to outlet: the whole budget, full speed
        double liquid_rise = 15.0;   ///< likewise

        std::uint64_t budget() const { return chip_budget * chips; }  ///< mW
        /// Degrees Celsius; `speed` of fans or pump: 1 is full speed.
        double outlet(std::uint64_t milliwatts, double speed) const;
    };
    struct counts {
        std::uint64_t throttle_events = 0;  ///< chips, each time one was throttled
        std::uint64_t power_losses = 0;
    };

    /// The chips in order.
    sc_core::sc_port<power_interface, 0, sc_core::SC_ZERO_OR_MORE_BOUND> power{"power"};
    sc_core::sc_vector<irq_out> throttle{"throttle"};    ///< by chip: slow down
    sc_core::sc_vector<irq_out> power_off{"power_off"};  ///< by chip: no power

    sled_controller(sc_core::sc_module_name name, const config& cfg);

    std::uint64_t milliwatts() const;
    /// Of fans or pump, relative to full speed.
    unsigned speed_permille() const;
    /// Of the outlet.
    double outlet() const;
    bool powered() const { return powered_; }
    const config& settings() const { return cfg_; }
    const counts& counters() const { return counters_; }

    void publish(statistics& out) const override;
    std::vector<fault> faults() override;

private:
    void start_of_simulation() override;
    void look();
    std::uint64_t of_chip(unsigned chip) const;
    std::uint64_t budget() const { return cfg_.budget() / 1000 * supply_permille_; }
    void switch_power(bool on);

    const config cfg_;
    std::uint64_t supply_permille_ = 1000;   // share of the budget that working supplies provide
    std::uint64_t cooling_permille_ = 1000;  // share of full speed that fans or pump reach
    bool powered_ = true;
    counts counters_;
};

}  // namespace trn
