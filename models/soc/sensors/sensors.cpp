// SPDX-License-Identifier: Apache-2.0
#include "models/soc/sensors/sensors.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/soc/sensors/sensors_regs.h"
#include "platform/framework/kernel/random.h"
#include "platform/framework/log.h"

namespace trn {

using namespace sensors_regs;
using sc_core::sc_time;

sensors::sensors(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      cfg_(cfg),
      seed_(seed_for(this->name())),
      regs_(sensors_regs::table, {.latency = cfg.access_latency}) {
    in.register_b_transport(this, &sensors::b_transport);
    in.register_transport_dbg(this, &sensors::transport_dbg);
    regs_.view(reg::rated_power, [this](unsigned, unsigned) { return cfg_.rated_power; });
    regs_.view(reg::trip_temperature, [this](unsigned, unsigned) {
        return static_cast<std::uint64_t>(std::lround(cfg_.trip * 1000));
    });
    for (const reg r : {reg::irq_status, reg::irq_enable, reg::alarm_temperature})
        regs_.on_write(r, [this](register_access& a) { update_lines(a.delay); });
}

void sensors::clear() {
    regs_.reset();
    if (throttle.level()) regs_.set(irq_status::throttled, 1);
    is_shown_ = false;
    irq.cancel();
    trip.cancel();
    update_lines(sc_core::SC_ZERO_TIME);
}

/// Updates the registers to the last conversion before an access at the present plus `delay`. An
/// access that is earlier than the last conversion shows that one.
void sensors::sample(const sc_time& delay) {
    const sc_time now = sc_core::sc_time_stamp() + delay;
    const auto due = static_cast<std::uint64_t>(std::floor(now / cfg_.sample_period)) + 1;
    const std::uint64_t count = std::max(due, conversions_);
    if (count == conversions_ && is_shown_) return;
    const double periods = static_cast<double>(count - conversions_);  // 0: shows it again
    const double seconds = periods * cfg_.sample_period.to_seconds();
    const std::uint64_t number = count - 1;
    conversions_ = count;
    is_shown_ = true;
    regs_[reg::sample] = number & 0xffff'ffff;
    for (unsigned die = 0; die < cfg_.dies; ++die)
        regs_.set(reg::power, convert_power(die, seconds, number), die);
    for (unsigned diode = 0; diode < diodes; ++diode) convert_temperature(diode, seconds);
    update_lines(delay);
    for (const auto& notify : converted_) notify(delay);
}

void sensors::throttled_by_sled(bool level) {
    if (level) regs_.set(irq_status::throttled, 1);
    throttled.set(level);
    const bool notify = regs_.get(sensors_regs::notify::throttle) != 0;
    for (int n = 0; n < compute.size(); ++n) compute[n]->set_throttled(level, notify);
    update_lines(sc_core::SC_ZERO_TIME);
}

void sensors::publish_signals(signal_list& out) const {
    for (unsigned die = 0; die < cfg_.dies; ++die)
        out.real("watts_" + std::to_string(die),
                 [this, die] { return static_cast<double>(regs_.get(reg::power, die)) / 1000; });
    for (unsigned diode = 0; diode < diodes; ++diode)
        out.real("celsius_" + std::to_string(diode), [this, diode] {
            return static_cast<std::int32_t>(regs_.get(reg::temperature, diode)) / 1000.0;
        });
}

std::uint64_t sensors::milliwatts() const {
    std::uint64_t sum = 0;
    for (unsigned die = 0; die < cfg_.dies; ++die) sum += regs_.get(reg::power, die);
    return sum;
}

std::int32_t sensors::hottest_millidegrees() const {
    std::int32_t hottest = INT32_MIN;
    for (unsigned diode = 0; diode < diodes; ++diode)
        hottest = std::max(hottest, static_cast<std::int32_t>(regs_.get(reg::temperature, diode)));
    return hottest;
}

/// Work of the HBM stacks and cores of a die.
sensors::work sensors::work_of(unsigned die) {
    work done;
    const auto visit = [&](int count, auto add) {
        const int dies = static_cast<int>(cfg_.dies);
        const int of_die = (count + dies - 1) / dies, first = static_cast<int>(die) * of_die;
        for (int n = first; n < std::min(first + of_die, count); ++n) add(n);
    };
    visit(activity.size(), [&](int n) { done.memory += activity[n]->bytes_moved(); });
    visit(compute.size(), [&](int n) {
        done.flops += compute[n]->bf16_flops();
        done.sram += compute[n]->sram_bytes();
    });
    return done;
}

/// Share of a die's dynamic power in use, at most 1: the sum of the activities of memories and
/// engines, each relative to its rated value.
double sensors::utilisation(unsigned die, double seconds) {
    constexpr double flops_share = 0.7, sram_share = 0.3;  // invented
    const work done = work_of(die), before = std::exchange(done_[die], done);
    const auto part = [seconds](std::uint64_t count, std::uint64_t rated) {
        return static_cast<double>(count) / (static_cast<double>(rated) * seconds);
    };
    return std::min(part(done.memory - before.memory, cfg_.rated_activity) +
                        flops_share * part(done.flops - before.flops, cfg_.rated_flops) +
                        sram_share * part(done.sram - before.sram, cfg_.rated_sram),
                    1.0);
}

std::uint64_t sensors::convert_power(unsigned die, double seconds, std::uint64_t number) {
    const double idle = static_cast<double>(cfg_.idle_power);
    const double dynamic = static_cast<double>(cfg_.rated_power) - idle;
    double& used = dynamic_power_[die];
    if (seconds > 0) used = utilisation(die, seconds) * dynamic;
    dynamic_microjoules_ += used * 1e3 * seconds;
    const double power = (idle + used) * (1.0 + ripple(die, number));
    const auto wanted = static_cast<std::uint64_t>(std::lround(power));
    const std::uint64_t cap = regs_.get(reg::power_cap, die);
    if (wanted <= cap) return wanted;
    regs_.set(irq_status::throttled, 1);
    return cap;
}

/// A ripple of up to one percent; depends only on seed, die and sample number.
double sensors::ripple(unsigned die, std::uint64_t number) const {
    const std::uint64_t drawn = mix_bits(seed_ ^ (number * 2 + die)) % 2001;
    return 0.01 * (static_cast<double>(drawn) / 1000.0 - 1.0);
}

/// First-order model: the temperature approaches the steady state for the current power.
void sensors::convert_temperature(unsigned diode, double seconds) {
    const unsigned die = diode < max_dies ? diode : (diode - max_dies) / 2;
    const double resistance = diode < max_dies ? cfg_.die_resistance : cfg_.hbm_resistance;
    const double goal = resistance * static_cast<double>(regs_.get(reg::power, die)) / 1000.0;
    double& now = kelvin_over_ambient_[diode];
    now += (goal - now) * (1.0 - std::exp(-seconds / cfg_.time_constant.to_seconds()));
    const double celsius = cfg_.ambient + now + injected_[diode];
    regs_.set(reg::temperature, static_cast<std::uint32_t>(std::lround(celsius * 1000)), diode);
}

void sensors::update_lines(const sc_time& delay) {
    std::int32_t hottest = INT32_MIN;
    for (unsigned diode = 0; is_shown_ && diode < diodes; ++diode)
        hottest = std::max(hottest, static_cast<std::int32_t>(regs_.get(reg::temperature, diode)));
    if (hottest >= static_cast<std::int32_t>(regs_.get(reg::alarm_temperature)))
        regs_.set(irq_status::alarm, 1);
    irq.set((regs_[reg::irq_status] & regs_[reg::irq_enable]) != 0, delay);
    trip.set(hottest >= static_cast<std::int32_t>(regs_.get(reg::trip_temperature)), delay);
}

std::vector<accepts_faults::fault> sensors::faults() {
    return {{"temperature",
             "a diode reads hotter",
             {fault_argument::number("diode", 0, diodes - 1, "of the dies, then of HBM stacks"),
              fault_argument::number("kelvin", -100, 200, "added to the temperature").in_unit("K")},
             [this](const fault_values& given) {
                 injected_[given.number("diode")] =
                     static_cast<double>(given.number<std::int64_t>("kelvin"));
                 is_shown_ = false;  // takes effect now, not at the next conversion
                 sample(sc_core::SC_ZERO_TIME);
             }}};
}

}  // namespace trn
