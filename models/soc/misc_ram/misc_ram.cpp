// SPDX-License-Identifier: Apache-2.0
#include "models/soc/misc_ram/misc_ram.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "models/misuse_rules.h"
#include "models/soc/misc_ram/misc_ram_regs.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/misuse/misuse.h"

namespace trn {

using misc_ram_regs::reg;

namespace {

/// Ranges of words that only firmware writes (contract 4.1): chip information for the driver, the
/// link table, errors by core with temperatures and resets, and firmware's status. The words of
/// newer drivers about instance and reservation (contract 16) are not part of them.
struct range {
    std::uint64_t first, end;
};
constexpr std::array words_of_firmware{
    range{misc_ram_regs::offset(reg::api_version), misc_ram_regs::offset(reg::instance)},
    range{misc_ram_regs::offset(reg::serial_lo), misc_ram_regs::offset(reg::reservation_hi)},
    range{misc_ram_regs::offset(reg::topology_magic),
          misc_ram_regs::offset(reg::topology_port_expected_id, 7) + 4},
    range{misc_ram_regs::offset(reg::core_ecc), misc_ram_regs::offset(reg::resets) + 4},
    range{misc_ram_regs::offset(reg::firmware_status),
          misc_ram_regs::offset(reg::firmware_status) + 4}};

bool touches_words_of_firmware(const tlm::tlm_generic_payload& payload) {
    const std::uint64_t first = payload.get_address();
    return std::ranges::any_of(words_of_firmware, [&](const range& words) {
        return first < words.end && first + payload.get_data_length() > words.first;
    });
}

}  // namespace

misc_ram::misc_ram(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name), regs_(misc_ram_regs::table, {.latency = cfg.access_latency}) {
    in.register_b_transport(this, &misc_ram::host_transport);
    in.register_transport_dbg(this, &misc_ram::transport_dbg);
    firmware.register_b_transport(this, &misc_ram::firmware_transport);
    firmware.register_transport_dbg(this, &misc_ram::transport_dbg);
    define_registers();
}

void misc_ram::define_registers() {
    regs_.on_write(reg::trigger, [this](register_access& a) {
        const trace::on_behalf_of it(a.value != 0 ? trace::current_or_new_operation()
                                                  : trace::current_operation());
        if (trace::on()) trace::event(this->name(), "trigger", {{"value", a.value}}, a.delay);
        note_trigger(a.value);
        doorbell.set(a.value != 0, a.delay);
    });
    for (const reg r : {reg::request_0, reg::request_1})
        regs_.on_write(r, [this](register_access&) { note_request(); });
    for (const reg r : {reg::power, reg::health_sequence}) {
        regs_.on_read(r, [this](register_access& a) {
            if (!from_firmware_) watched.set(true, a.delay);
        });
        regs_.on_write(r, [this](register_access& a) {
            if (from_firmware_) watched.set(false, a.delay);
        });
    }
    regs_.on_write(reg::routing_id, [this](register_access& a) {
        booting.set(!ready());  // together with the word that hosts poll, also if that is early
        if (from_firmware_) stale.set(false, a.delay);
    });
}

/// Accesses RAM. If the host overwrites a word of firmware, `stale` makes firmware write it again.
void misc_ram::host_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    regs_.access(payload, delay);
    if (!payload.is_write() || !payload.is_response_ok() || !touches_words_of_firmware(payload))
        return;
    misuse::report(
        misuse::firmware_word_overwritten, *this,
        fmt::format("{} bytes at +{:#x}", payload.get_data_length(), payload.get_address()));
    stale.set(true, delay);
}

/// A request is open from the doorbell after its write until firmware clears the doorbell. A
/// doorbell without a written request does not count: a reset also rings it.
void misc_ram::note_request() {
    if (from_firmware_) return;
    request_written_ = true;
    if (std::exchange(request_open_, false))
        misuse::report(misuse::mailbox_overrun, *this, "REQUEST_0 or REQUEST_1");
}

void misc_ram::note_trigger(std::uint64_t value) {
    if (value == 0) {
        request_open_ = request_open_ && !from_firmware_;
    } else if (!from_firmware_ && std::exchange(request_written_, false)) {
        request_open_ = true;
    }
}

void misc_ram::forget() {
    std::array<unsigned char, misc_ram_regs::size> zeroes{};  // for the words without a name
    tlm::tlm_generic_payload all;
    all.set_write();
    all.set_data_ptr(zeroes.data());
    all.set_data_length(zeroes.size());
    regs_.debug_access(all);
    regs_.reset();
    for (irq_out* line : {&doorbell, &watched, &stale, &booting}) {
        line->cancel();
        line->set(line == &booting);
    }
    request_written_ = request_open_ = false;
}

bool misc_ram::ready() const {
    constexpr std::uint32_t booting = 0xdeadbeef;  // the reset value
    return regs_.get(reg::routing_id) != booting;
}

}  // namespace trn
