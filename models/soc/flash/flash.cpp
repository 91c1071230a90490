// SPDX-License-Identifier: Apache-2.0
#include "models/soc/flash/flash.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "models/soc/flash/flash_regs.h"
#include "platform/framework/loader/elf.h"
#include "platform/framework/loader/firmware_file.h"
#include "platform/framework/log.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/refuse_pointer.h"

namespace trn {

using namespace flash_regs;
using sc_core::sc_time;

namespace {

/// Returns false when the bytes do not fit.
bool put(std::span<std::uint8_t> all, std::uint64_t offset, std::span<const std::uint8_t> bytes) {
    if (offset > all.size() || bytes.size() > all.size() - offset) return false;
    std::ranges::copy(bytes, all.begin() + static_cast<std::ptrdiff_t>(offset));
    return true;
}

/// `image`: a whole flash image, or a program that is written into both slots.
void put_image(std::span<std::uint8_t> all, const std::string& image) {
    const auto file = read_firmware(image, flash::max_program_bytes);
    if (!is_elf(file)) {
        if (put(all, 0, file)) return;
        throw std::runtime_error(fmt::format("flash image '{}' has {} bytes, the flash {}", image,
                                             file.size(), all.size()));
    }
    // Version text of the slots.
    const auto name = std::filesystem::path(image).filename().string();
    const auto slot = pack_firmware(read_elf(file, image), name, flash::slot_size);
    for (const std::uint64_t offset : {flash::slot_a, flash::slot_b})
        if (!put(all, offset, slot))
            throw std::runtime_error(
                fmt::format("program '{}' does not fit a flash of {} bytes", image, all.size()));
}

/// The initial content, which all flashes of a rack share.
std::shared_ptr<const initial_content> content_of(const flash::config& cfg) {
    static std::map<std::pair<std::string, std::uint64_t>, std::weak_ptr<const initial_content>>
        known;
    auto& mine = known[{cfg.image, cfg.size}];
    if (auto content = mine.lock()) return content;
    std::vector<std::uint8_t> bytes(cfg.size, 0xff);
    if (!cfg.image.empty()) put_image(bytes, cfg.image);
    const auto content = std::make_shared<const initial_content>(bytes);
    mine = content;
    return content;
}

}  // namespace

flash::flash(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      cfg_(cfg),
      regs_(flash_regs::table, {.latency = cfg.access_latency}),
      bytes_(content_of(cfg)) {
    window.register_b_transport(this, &flash::read_window);
    window.register_transport_dbg(this, &flash::peek_window);
    window.register_get_direct_mem_ptr(this, &flash::get_direct_mem_ptr);

    regs_.view(reg::status, [this](unsigned, unsigned) {
        return running_.operation == opcode::none ? 0 : status::busy.mask();
    });
    regs_.view(reg::size_, [this](unsigned, unsigned) { return cfg_.size; });
    regs_.view(reg::identification, [this](unsigned, unsigned) {
        const auto log2 = static_cast<std::uint64_t>(std::countr_zero(cfg_.size));
        return identification::log2_size.set(
            identification::maker.set(0, 0x54) | identification::type.set(0, 0xbb), log2);
    });
    regs_.on_write(reg::command, [this](register_access& a) { command(a.written, a.delay); });
    for (const reg r : {reg::control, reg::events})
        regs_.on_write(r, [this](register_access& a) { update_irq(a.delay); });

    SC_HAS_PROCESS(flash);
    SC_METHOD(finish);
    sensitive << finished_;
    dont_initialize();
}

bool flash::load(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
    return put({bytes_.data(), cfg_.size}, offset, bytes);
}

/// Chip reset: aborts a running command; bytes that it has changed stay changed.
void flash::clear() {
    if (running_.operation != opcode::none) end_command();
    finished_.cancel();
    regs_.reset();
    irq.cancel();
    update_irq(sc_core::SC_ZERO_TIME);
}

// --- Window -----------------------------------------------------------------------------

void flash::read_window(tlm::tlm_generic_payload& payload, sc_time& delay) {
    if (payload.is_write()) {
        return payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    }
    // the flash does not answer reads while it erases or programs
    if (running_.operation != opcode::none) {
        log::guest_warn(this->name(), "read at {:#x} while a command runs", payload.get_address());
        return payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
    payload.set_dmi_allowed(true);
    copy_payload(payload, bytes_.data(), cfg_.size);
    delay += cfg_.read_latency;
}

unsigned flash::peek_window(tlm::tlm_generic_payload& payload) {
    return copy_debug(payload, bytes_.data(), cfg_.size);
}

bool flash::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    memory_attribute::answer(payload);
    dmi.set_start_address(0);
    dmi.set_end_address(cfg_.size - 1);
    dmi.allow_read_write();
    if (running_.operation != opcode::none) return false;
    dmi.set_dmi_ptr(bytes_.data());
    dmi.set_read_latency(cfg_.read_latency);
    return grant_reads(payload, dmi);
}

// --- Commands ---------------------------------------------------------------------------

bool flash::acceptable(opcode wanted) const {
    const std::uint64_t address = regs_[reg::address], length = regs_[reg::length];
    if (wanted == opcode::none || running_.operation != opcode::none || address >= cfg_.size ||
        control::write_enable.get(regs_[reg::control]) == 0)
        return false;
    return wanted == opcode::erase || (length >= 1 && address % page + length <= page);
}

void flash::command(std::uint64_t written, const sc_time& delay) {
    const std::uint64_t number = command::opcode.get(written);
    const opcode wanted = number == command::opcode_program_page   ? opcode::program
                          : number == command::opcode_erase_sector ? opcode::erase
                                                                   : opcode::none;
    if (!acceptable(wanted)) {
        log::guest_warn(this->name(), "command {:#x} at {:#x} refused", number,
                        regs_.get(reg::address));
        raise(events::failed.mask(), delay);
        return;
    }
    running_ = {wanted, regs_[reg::address], regs_[reg::length], {}};
    for (unsigned i = 0; i < page; ++i)
        running_.bytes[i] = static_cast<std::uint8_t>(regs_.get(reg::page, i / 4) >> i % 4 * 8);
    regs_.set(control::write_enable, 0);
    window->invalidate_direct_mem_ptr(0, cfg_.size - 1);
    finished_.notify(delay + (wanted == opcode::erase ? cfg_.erase_time : cfg_.program_time));
}

void flash::finish() {
    if (running_.operation == opcode::erase)
        std::memset(bytes_.data() + running_.address / sector * sector, 0xff, sector);
    else
        program();
    end_command();
    raise(events::done.mask(), sc_core::SC_ZERO_TIME);
}

void flash::end_command() {
    running_.operation = opcode::none;
    window->invalidate_direct_mem_ptr(0, cfg_.size - 1);  // refusals end
}

/// NOR flash: programming can only clear bits.
void flash::program() {
    std::uint8_t* target = bytes_.data() + running_.address;
    for (std::uint64_t i = 0; i < running_.length; ++i) target[i] &= running_.bytes[i];
}

void flash::raise(std::uint64_t events, const sc_time& delay) {
    regs_[reg::events] = regs_[reg::events] | events;
    update_irq(delay);
}

void flash::update_irq(const sc_time& delay) {
    const auto both = events::done.mask() | events::failed.mask();
    irq.set(control::irq_enable.get(regs_[reg::control]) != 0 && (regs_[reg::events] & both) != 0,
            delay);
}

}  // namespace trn
