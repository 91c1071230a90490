// SPDX-License-Identifier: Apache-2.0
#include "models/soc/reset_controller/reset_controller.h"

#include <array>

#include "models/soc/reset_controller/reset_controller_regs.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/log.h"

namespace trn {

using namespace reset_controller_regs;
using sc_core::sc_time;
using sc_core::sc_time_stamp;

reset_controller::reset_controller(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      cfg_(cfg),
      regs_(reset_controller_regs::table, {.latency = cfg.access_latency}) {
    define_registers();

    SC_HAS_PROCESS(reset_controller);
    SC_METHOD(run);
    sensitive << changed_;
    dont_initialize();
}

void reset_controller::define_registers() {
    const auto strap = [this](reg r, std::uint64_t value) {
        regs_.view(r, [value](unsigned, unsigned) { return value & 0xffff'ffff; });
    };
    strap(reg::strap_position, cfg_.routing_id);
    strap(reg::strap_serial_lo, cfg_.serial);
    strap(reg::strap_serial_hi, cfg_.serial >> 32);
    std::uint64_t server = strap_server::server.set(0, cfg_.server_id);
    server = strap_server::rack.set(server, cfg_.rack_id);
    server = strap_server::server_valid.set(server, 1);
    strap(reg::strap_server, strap_server::rack_valid.set(server, 1));
    std::uint64_t machine = strap_topology::kind.set(0, static_cast<std::uint64_t>(cfg_.topology));
    machine = strap_topology::x.set(machine, cfg_.shape_x);
    machine = strap_topology::y.set(machine, cfg_.shape_y);
    strap(reg::strap_topology, strap_topology::z.set(machine, cfg_.shape_z));
    std::uint64_t place = strap_place::chip.set(0, cfg_.chip);
    place = strap_place::server.set(place, cfg_.server_in_rack);
    strap(reg::strap_place, strap_place::rack.set(place, cfg_.rack));
    std::uint64_t platform = strap_platform::revision.set(0, cfg_.revision_id);
    platform = strap_platform::generation.set(platform, cfg_.generation);
    platform = strap_platform::recovery.set(platform, cfg_.recovery);
    strap(reg::strap_platform, strap_platform::slot_b.set(platform, cfg_.prefer_slot_b));

    regs_.on_write(reg::chip_reset, [this](register_access& a) {
        if (a.written == chip_reset::key_value) request(cause::software, a.delay);
    });
    regs_.on_write(reg::pll_control, [this](register_access& a) {
        for (unsigned loop = 0; loop < std::size(enabled_at_); ++loop)
            if ((a.value & ~a.old) >> loop & 1) enabled_at_[loop] = sc_time_stamp() + a.delay;
    });
    regs_.view(reg::pll_status, [this](unsigned, unsigned, const sc_time& delay) {
        return locked(sc_time_stamp() + delay);
    });
    const auto domains = [this](reg r, domain_lines& lines) {
        regs_.on_write(r, [this, &lines](register_access& a) {
            trace_domains(a.delay);
            drive_domains(lines, a.value, a.delay);
        });
    };
    domains(reg::dma_reset, dma_reset);
    domains(reg::tpb_reset, tpb_reset);
    domains(reg::top_sp_reset, top_sp_reset);
}

bool reset_controller::ready() const {
    return boot_status::stage.get(regs_[reg::boot_status]) == boot_status::stage_ready;
}

std::string reset_controller::boot_failure() const {
    const auto status = regs_[reg::boot_status], stage = boot_status::stage.get(status);
    if (stage == boot_status::stage_no_image &&
        boot_status::error.get(status) == boot_status::error_image)
        return "the boot ROM found no usable image in the flash";
    if (stage == boot_status::stage_no_image &&
        boot_status::error.get(status) == boot_status::error_not_ready)
        return "no image of the flash became ready; the watchdog has reset each";
    if (stage == boot_status::stage_panic) return "the firmware stopped in a panic";
    return {};
}

std::uint64_t reset_controller::locked(const sc_time& now) const {
    std::uint64_t bits = 0;
    for (unsigned loop = 0; loop < std::size(enabled_at_); ++loop)
        if (regs_[reg::pll_control] >> loop & 1 && now >= enabled_at_[loop] + cfg_.pll_lock_time)
            bits |= 1u << loop;
    return bits;
}

void reset_controller::trace_domains(const sc_time& delay) const {
    if (!trace::on()) return;
    trace::event(
        name(), "resets",
        {trace::hex("dma", regs_[reg::dma_reset]), trace::hex("tpb", regs_[reg::tpb_reset]),
         trace::hex("top_sp", regs_[reg::top_sp_reset])},
        delay);
}

/// Bit `n` of `held`: domain `n` is in reset.
void reset_controller::drive_domains(domain_lines& lines, std::uint64_t held,
                                     const sc_time& delay) {
    for (unsigned line = 0; line < lines.size(); ++line)
        lines[line].set((held >> line & 1) != 0, delay);
}

/// As after a reset of the registers: changes to come of accesses before it are dropped.
void reset_controller::reset_domains() {
    trace_domains(sc_core::SC_ZERO_TIME);
    const auto drive = [this](domain_lines& lines, reg r) {
        for (irq_out& line : lines) line.cancel();
        drive_domains(lines, regs_[r], sc_core::SC_ZERO_TIME);
    };
    drive(dma_reset, reg::dma_reset);
    drive(tpb_reset, reg::tpb_reset);
    drive(top_sp_reset, reg::top_sp_reset);
}

void reset_controller::request(cause why, const sc_time& delay) {
    if (power_off.level()) return;  // nothing to reset, and the return of power starts the chip
    causes_ |= 1u << static_cast<unsigned>(why);
    if (!resetting_) changed_.notify(delay);
}

/// Begins or ends the reset pulse.
void reset_controller::run() {
    if (resetting_) {
        resetting_ = false;
        chip_reset.set(false);
        if (causes_ != 0) changed_.notify(sc_core::SC_ZERO_TIME);
    } else if (causes_ != 0) {
        start_reset();
    }
}

/// Registers that survive a reset: straps, reasons, count, boot status without its stage, and
/// scratch.
void reset_controller::start_reset() {
    static constexpr std::array kept{reg::reset_reason, reg::reset_count, reg::boot_status};
    std::array<std::uint64_t, kept.size()> values{};
    std::array<std::uint64_t, 4> scratch{};
    for (std::size_t i = 0; i < kept.size(); ++i) values[i] = regs_[kept[i]];
    for (unsigned i = 0; i < scratch.size(); ++i) scratch[i] = regs_.get(reg::scratch, i);
    regs_.reset();
    for (std::size_t i = 0; i < kept.size(); ++i) regs_[kept[i]] = values[i];
    for (unsigned i = 0; i < scratch.size(); ++i) regs_.set(reg::scratch, scratch[i], i);

    regs_[reg::reset_reason] = regs_[reg::reset_reason] | causes_;
    regs_[reg::reset_count] = regs_[reg::reset_count] + 1;
    regs_.set(boot_status::stage, boot_status::stage_off);
    log::info(this->name(), "chip reset, reasons {:#x}", causes_);
    causes_ = 0;
    resetting_ = true;
    reset_domains();
    chip_reset.set(true);
    changed_.notify(cfg_.chip_reset_time);
}

/// Off: all domains are in reset until power returns. On: the chip starts as at first.
void reset_controller::power(bool on) {
    if (!on) {
        changed_.cancel();
        causes_ = 0;
        resetting_ = false;
        regs_.reset();
        reset_domains();
        chip_reset.set(true);
        power_lost.set(true);
        return;
    }
    power_lost.set(false);
    resetting_ = true;
    changed_.notify(cfg_.chip_reset_time);
}

}  // namespace trn
