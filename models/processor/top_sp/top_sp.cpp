// SPDX-License-Identifier: Apache-2.0
#include "models/processor/top_sp/top_sp.h"

#include <bit>
#include <limits>
#include <utility>

#include "models/processor/top_sp/cc_core_regs.h"
#include "platform/framework/tlm/bandwidth_resource.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/shifted.h"

namespace trn {

namespace regs = cc_core_regs;
using regs::reg;

namespace {

constexpr std::uint64_t fabric = std::uint64_t{1} << 63;  // fabric addresses

const sc_core::sc_time& tick() {
    static const sc_core::sc_time nanosecond(1, sc_core::SC_NS);
    return nanosecond;
}

}  // namespace

top_sp::top_sp(sc_core::sc_module_name name, const config& cfg, const hart_common& shared)
    : notifying_module(name, cfg.register_latency),
      reset("reset", 1, [this](unsigned, bool level) { reset_changed(level); }),
      hart("hart", {.hart_id = cfg.number, .clock = cfg.clock, .reset_vector = instruction_offset},
           shared),
      cfg_(cfg),
      bytes_(aperture_size),
      semaphores_(*this, cfg.access_latency),
      control_(regs::table, {.latency = cfg.access_latency}) {
    static_assert(control_offset + regs::size == memory_offset);
    map_aperture(aperture);
    aperture.grant_pointers<&top_sp::get_direct_mem_ptr>(*this);
    registers.map(cfg.notifications_offset, registers_size, notifications_.registers());
    map_hart_bus();
    hart.bus.bind(hart_bus_);
    hart.set_time_source(*this);
    timer_.bind(hart.irq, riscv_hart::machine_timer);
    external_.bind(hart.irq, riscv_hart::machine_external);
    hart_reset_.bind(hart.reset);
    hart_reset_.set(true);
    semaphores_.on_change([this] {
        if (watched_ != 0) update_irq();
    });
    hook_control();
    sensitive << expiry_;  // deliver()
}

// --- Accesses

void top_sp::map_aperture(window_socket& socket) {
    socket.map(0, semaphores::size, semaphores_);
    socket.map(control_offset, regs::size, control_);
    socket.map<&top_sp::access_memory, &top_sp::peek_memory>(
        memory_offset, aperture_size - memory_offset, *this, memory_offset);
}

void top_sp::map_hart_bus() {
    map_aperture(hart_bus_);
    hart_bus_.map(aperture_size, notification_queue::aperture_size, notifications_.registers());
    hart_bus_.map<&top_sp::access_chip, &top_sp::peek_chip>(axi_window, axi_window, *this);
    hart_bus_.map<&top_sp::access_chip, &top_sp::peek_chip>(fabric, fabric, *this, fabric);
    hart_bus_.grant_pointers<&top_sp::pointer_for_hart>(*this);
}

void top_sp::access_memory(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (copy_payload(payload, bytes_.data(), bytes_.size()) == 0) return;
    payload.set_dmi_allowed(true);
    if (timing() == timing_mode::contended) delay += cfg_.access_latency;
}

unsigned top_sp::peek_memory(tlm::tlm_generic_payload& payload) {
    return copy_debug(payload, bytes_.data(), bytes_.size());
}

/// Accesses of the hart outside its own aperture: AXI space or fabric.
void top_sp::access_chip(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    memory->b_transport(payload, delay);
    // Ends the quantum: cores communicate within microseconds. A hart that runs ahead would signal
    // too early, and would reserve links for times at which other cores still use them.
    hart.end_quantum();
}

unsigned top_sp::peek_chip(tlm::tlm_generic_payload& payload) {
    return memory->transport_dbg(payload);
}

bool top_sp::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    if (payload.get_address() < memory_offset) {
        dmi.allow_read_write();
        dmi.set_start_address(0);
        dmi.set_end_address(memory_offset - 1);
        return false;
    }
    dmi.set_dmi_ptr(bytes_.data() + memory_offset);
    dmi.set_start_address(memory_offset);
    dmi.set_end_address(aperture_size - 1);
    dmi.allow_read_write();
    dmi.set_read_latency(cfg_.access_latency);
    dmi.set_write_latency(cfg_.access_latency);
    return true;
}

/// Pointers are only granted for its own memory, which is tightly coupled: the hart's accesses take
/// no time. Others go to the chip.
bool top_sp::pointer_for_hart(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    if (payload.get_address() < aperture_size) {
        const bool granted = get_direct_mem_ptr(payload, dmi);
        dmi.set_read_latency(sc_core::SC_ZERO_TIME);
        dmi.set_write_latency(sc_core::SC_ZERO_TIME);
        return granted;
    }
    if (memory_attribute::asked(payload) && payload.get_address() >= axi_window)
        ask_chip_for_attribute(payload);
    dmi.allow_read_write();
    dmi.set_start_address(aperture_size);
    return false;
}

void top_sp::ask_chip_for_attribute(tlm::tlm_generic_payload& payload) {
    const shifted local(payload, payload.get_address() < fabric ? axi_window : 0);
    tlm::tlm_dmi unused;
    if (memory->get_direct_mem_ptr(payload, unused)) memory_attribute::answer(payload);
}

// --- Control of the hart

void top_sp::hook_control() {
    control_.set(reg::number, cfg_.number);
    control_.on_write(reg::control, [this](register_access& a) { hold_hart(a.delay); });
    control_.view(reg::irq_status, [this](unsigned, unsigned) { return causes(); });
    control_.on_write(reg::irq_enable, [this](register_access&) { update_irq(); });
    control_.on_write(reg::doorbell, [this](register_access& a) {
        const trace::on_behalf_of it(trace::current_or_new_operation());
        if (trace::on()) trace::event(name(), "doorbell", {trace::hex("value", a.written)});
        count_doorbells(static_cast<std::uint32_t>(a.written));
        update_irq();
    });
    control_.on_read(reg::doorbell_count,
                     [this](register_access& a) { control_.set(reg::doorbell_count, 0, a.index); });
    control_.on_write(reg::doorbell_clear, [this](register_access& a) {
        control_[reg::doorbell] = control_.get(reg::doorbell) & ~a.written;
        update_irq();
    });
    for (const reg half : {reg::timer_lo, reg::timer_hi})
        control_.on_write(half, [this](register_access& a) { update_timer(a.delay); });
    control_.on_write(reg::match_control, [this](register_access& a) {
        const auto bit = std::uint32_t{1} << a.index;
        watched_ = regs::match_control::enable.get(a.value) != 0 ? watched_ | bit : watched_ & ~bit;
        update_irq();
    });
    control_.on_write(reg::match_value, [this](register_access&) { update_irq(); });
}

void top_sp::count_doorbells(std::uint32_t bits) {
    for (; bits != 0; bits &= bits - 1) {
        const auto bit = static_cast<unsigned>(std::countr_zero(bits));
        const auto count = static_cast<std::uint32_t>(control_.get(reg::doorbell_count, bit));
        if (count != ~std::uint32_t{0}) control_.set(reg::doorbell_count, count + 1, bit);
    }
}

void top_sp::hold_hart(const sc_core::sc_time& delay) {
    const bool run = !reset.level() && control_.get(regs::control::run) != 0;
    if (run == !hart_reset_.next_level()) return;
    if (run) hart.invalidate_code(0, std::numeric_limits<std::uint64_t>::max());
    hart_reset_.set(!run, delay);
}

std::uint64_t top_sp::mtime(sc_core::sc_time time) const {
    return time.value() / tick().value();
}

/// For an access at the present plus `delay`.
void top_sp::update_timer(const sc_core::sc_time& delay) {
    const std::uint64_t compare = control_.get(reg::timer_hi) << 32 | control_.get(reg::timer_lo);
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    expiry_.cancel();
    timer_.set(mtime(now + delay) >= compare, delay);
    if (timer_.next_level()) return;
    const std::uint64_t last = (sc_core::sc_max_time() - now).value() / tick().value();
    if (compare - mtime(now) < last)
        expiry_.notify(sc_core::sc_time::from_value(compare * tick().value()) - now);
}

std::uint32_t top_sp::causes() const {
    std::uint64_t matching = 0;
    for (unsigned n = 0; watched_ >> n != 0; ++n) {
        if ((watched_ >> n & 1) == 0) continue;
        const auto control = control_.get(reg::match_control, n);
        const auto value =
            semaphores_.value(static_cast<unsigned>(regs::match_control::semaphore.get(control)));
        const auto wanted = static_cast<std::int32_t>(control_.get(reg::match_value, n));
        const bool equal =
            regs::match_control::condition.get(control) == regs::match_control::condition_equal;
        if (equal ? value == wanted : value >= wanted) matching |= std::uint64_t{1} << n;
    }
    std::uint64_t all = regs::irq_status::match.set(0, matching);
    if (control_.get(reg::doorbell) != 0) all = regs::irq_status::doorbell.set(all, 1);
    return static_cast<std::uint32_t>(all);
}

/// Follows the values of semaphores and registers, which change when an access is executed: its
/// delay would only be added to that.
void top_sp::update_irq() {
    external_.set((causes() & control_.get(reg::irq_enable)) != 0);
}

/// Handles the timer, and entries of the notification queues.
void top_sp::deliver() {
    update_timer(sc_core::SC_ZERO_TIME);
    notifying_module::deliver();
}

/// Contract 5.3: clears semaphores and events, disables notification queues. Memory keeps its
/// content; the hart stays in reset until software starts it again.
void top_sp::reset_changed(bool level) {
    for (irq_out* line : {&timer_, &hart_reset_}) line->cancel();
    if (!level) return hold_hart(sc_core::SC_ZERO_TIME);
    semaphores_.reset();
    notifications_.reset();
    control_.reset();
    control_.set(reg::number, cfg_.number);
    watched_ = 0;
    update_timer(sc_core::SC_ZERO_TIME);
    update_irq();
    hold_hart(sc_core::SC_ZERO_TIME);
}

}  // namespace trn
