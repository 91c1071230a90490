// SPDX-License-Identifier: Apache-2.0
#include "models/sled/sled_controller/sled_controller.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "platform/framework/log.h"

namespace trn {

sled_controller::sled_controller(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name), cfg_(cfg) {
    const auto line = [](const char* each, std::size_t) { return new irq_out(each); };
    throttle.init(cfg.chips, line);
    power_off.init(cfg.chips, line);
}

void sled_controller::start_of_simulation() {
    for (int i = 0; i < power.size(); ++i)
        power[i]->on_conversion([this](const sc_core::sc_time& delay) { evaluate(delay); });
}

std::uint64_t sled_controller::chip_milliwatts(unsigned chip) const {
    return powered_ && chip < static_cast<unsigned>(power.size())
               ? power[static_cast<int>(chip)]->milliwatts()
               : 0;
}

std::uint64_t sled_controller::milliwatts() const {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < cfg_.chips; ++i) sum += chip_milliwatts(i);
    return sum;
}

/// One third always, the rest in proportion to the heat to remove.
unsigned sled_controller::speed_permille() const {
    if (!powered_) return 0;
    const double load = static_cast<double>(milliwatts()) / static_cast<double>(cfg_.budget());
    const auto wanted = std::lround(1000 * std::clamp(load, 1.0 / 3, 1.0));
    return static_cast<unsigned>(std::min<std::uint64_t>(wanted, cooling_permille_));
}

double sled_controller::config::outlet(std::uint64_t milliwatts, double speed) const {
    const double rise = cooling == sled_cooling::air ? air_rise : liquid_rise;
    return inlet + rise * static_cast<double>(milliwatts) / static_cast<double>(budget()) / speed;
}

double sled_controller::outlet() const {
    return powered_ ? cfg_.outlet(milliwatts(), speed_permille() / 1000.0) : cfg_.inlet;
}

/// If the sled exceeds its budget or outlet limit, throttles the chips that draw more than an equal
/// share. Releases them when power is well below the budget.
void sled_controller::evaluate(const sc_core::sc_time& delay) {
    if (!powered_) return;
    const std::uint64_t now = milliwatts();
    const bool hot = outlet() > cfg_.outlet_limit;
    if (now > budget() || hot) {
        const std::uint64_t part = hot ? 0 : budget() / cfg_.chips;
        for (unsigned i = 0; i < cfg_.chips; ++i) {
            if (throttle[i].next_level() || chip_milliwatts(i) <= part) continue;
            ++counters_.throttle_events;
            log::info(this->name(), "chip {} throttled: it draws {} W, the sled {} of {} W", i,
                      chip_milliwatts(i) / 1000, now / 1000, budget() / 1000);
            throttle[i].set(true, delay);
        }
    } else if (now * 1000 < budget() * cfg_.release_permille) {
        for (auto& line : throttle) line.set(false, delay);
    }
}

void sled_controller::switch_power(bool on) {
    if (on == powered_) return;
    powered_ = on;
    counters_.power_losses += !on;
    log::info(this->name(), "the sled {} power", on ? "has" : "lost");
    for (auto& line : throttle) {
        line.cancel();
        line.set(false);
    }
    for (auto& line : power_off) line.set(!on);
}

std::vector<accepts_faults::fault> sled_controller::faults() {
    return {{"power_loss",
             "all chips of the sled lose power and memory content",
             {},
             [this](auto&) { switch_power(false); }},
            {"power_return",
             "they have power again and start cold",
             {},
             [this](auto&) { switch_power(true); }},
            {"supply_loss",
             "power supplies fail",
             {fault_argument::number("permille", 0, 1000,
                                     "remaining part of the budget; 1000: repaired")},
             [this](const fault_values& given) {
                 supply_permille_ = given.number("permille");
                 evaluate(sc_core::SC_ZERO_TIME);
             }},
            {"cooling_loss",
             "fans or pump fail",
             {fault_argument::number("permille", 1, 1000,
                                     "remaining part of full speed; 1000: repaired")},
             [this](const fault_values& given) {
                 cooling_permille_ = given.number("permille");
                 evaluate(sc_core::SC_ZERO_TIME);
             }}};
}

void sled_controller::publish(statistics& out) const {
    out.count("milliwatts", milliwatts());
    out.count("speed_permille", speed_permille());
    std::int32_t hottest = 0;
    for (int i = 0; powered_ && i < power.size(); ++i)
        hottest = std::max(hottest, power[i]->hottest_millidegrees());
    out.count("hottest_millidegrees", static_cast<std::uint64_t>(hottest));
    out.count("outlet_millidegrees", static_cast<std::uint64_t>(std::lround(outlet() * 1000)));
    out.count("throttled_chips", static_cast<std::uint64_t>(std::ranges::count_if(
                                     throttle, [](const auto& line) { return line.level(); })));
    out.count("throttle_events", counters_.throttle_events);
    out.count("power_losses", counters_.power_losses);
}

}  // namespace trn
