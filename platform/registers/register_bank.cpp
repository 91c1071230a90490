// SPDX-License-Identifier: Apache-2.0
#include "platform/registers/register_bank.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <map>

#include "platform/log.h"

namespace trn {

static_assert(std::endian::native == std::endian::little, "register values are little endian");

namespace {

std::string default_name(const register_table& table) {
    const auto* module = sc_core::sc_get_curr_simcontext()->hierarchy_curr();
    return module != nullptr ? module->name() : std::string(table.block);
}

unsigned shift_of(std::uint64_t stride) {
    return std::has_single_bit(stride) ? static_cast<unsigned>(std::countr_zero(stride)) : 0;
}

bool all_enabled(const tlm::tlm_generic_payload& payload, unsigned first, unsigned count) {
    const unsigned char* enables = payload.get_byte_enable_ptr();
    const unsigned length = payload.get_byte_enable_length();
    for (unsigned i = first; i < first + count; ++i)
        if (enables[i % length] != TLM_BYTE_ENABLED) return false;
    return true;
}

bool none_enabled(const tlm::tlm_generic_payload& payload, unsigned first, unsigned count) {
    const unsigned char* enables = payload.get_byte_enable_ptr();
    const unsigned length = payload.get_byte_enable_length();
    for (unsigned i = first; i < first + count; ++i)
        if (enables[i % length] == TLM_BYTE_ENABLED) return false;
    return true;
}

}  // namespace

const register_index& register_index::of(const register_table& table) {
    // Tables are constants, so what is derived from them is one too, whoever asks first.
    static std::map<const register_table*, register_index> known;
    return known.try_emplace(&table, table).first->second;
}

register_index::register_index(const register_table& table)
    : width_shift_(static_cast<unsigned>(std::countr_zero(table.width))) {
    const std::size_t entries = (page_mask + 1) >> width_shift_;
    auto blank_page = [&] {
        pages_.push_back(std::make_unique<std::uint32_t[]>(entries));
        std::fill_n(pages_.back().get(), entries, hole);
        return static_cast<std::uint32_t>(pages_.size() - 1);
    };
    page_of_.assign((table.size >> page_shift) + 1, blank_page());
    row_of_.reserve(table.slots);
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
        const register_row& row = table.rows[r];
        for (std::uint32_t i = 0; i < row.count; ++i) {
            const std::uint64_t offset = row.element(i);
            std::uint32_t& page = page_of_[offset >> page_shift];
            if (page == 0) page = blank_page();
            pages_[page][(offset & page_mask) >> width_shift_] = row.slot + i;
            row_of_.push_back(static_cast<std::uint16_t>(r));
        }
    }
}

register_bank::register_bank(const register_table& table, options opts)
    : table_(table),
      index_(register_index::of(table)),
      name_(opts.name.empty() ? default_name(table) : std::move(opts.name)),
      stride_(opts.stride != 0 ? opts.stride : table.size),
      stride_shift_(shift_of(stride_)),
      width_(table.width),
      latency_(opts.latency),
      on_write_(table.rows.size()),
      on_read_(table.rows.size()),
      views_(table.rows.size()),
      values_(opts.instances),
      ram_(table.holes == hole_policy::ram ? opts.instances : 0),
      touched_(table.rows.size() / 64 + 1) {
    assert(opts.instances > 0 && stride_ >= table.size && stride_ % width_ == 0);
}

void register_bank::access(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    payload.set_dmi_allowed(false);
    if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) {
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    } else if (payload.get_data_length() == width_ && payload.get_byte_enable_ptr() == nullptr &&
               payload.get_streaming_width() >= width_ &&
               (payload.get_address() & (width_ - 1)) == 0) {
        payload.set_response_status(
            beat(payload.is_write(), payload.get_address(), payload.get_data_ptr(), delay));
    } else {
        split(payload, delay);
    }
}

/// Any payload that is not exactly one register: several, or one with byte enables, or a misfit.
void register_bank::split(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t address = payload.get_address();
    const unsigned length = payload.get_data_length();
    const bool write = payload.is_write();
    auto status = tlm::TLM_OK_RESPONSE;
    if (length == 0 || payload.get_streaming_width() < length)
        status = refuse(tlm::TLM_BURST_ERROR_RESPONSE, write, address, length);
    for (unsigned done = 0; done < length && status == tlm::TLM_OK_RESPONSE;) {
        location where{};
        if (!locate(address + done, where)) {
            status = refuse(tlm::TLM_ADDRESS_ERROR_RESPONSE, write, address + done, length);
            break;
        }
        const unsigned into = static_cast<unsigned>(where.offset & (width_ - 1));
        const unsigned size = std::min(width_ - into, length - done);
        unsigned char* data = payload.get_data_ptr() + done;
        const bool enables = payload.get_byte_enable_ptr() != nullptr;
        if (enables && none_enabled(payload, done, size)) {
            // nothing of this register is meant
        } else if (where.slot == register_index::hole && !enables) {
            status = hole(write, where, data, size);
        } else if (enables && !all_enabled(payload, done, size)) {
            status = refuse(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE, write, address + done, size);
        } else if (size < width_ && where.slot != register_index::hole) {
            status = refuse(tlm::TLM_BURST_ERROR_RESPONSE, write, address + done, size);
        } else {
            status = where.slot == register_index::hole ? hole(write, where, data, size)
                                                        : beat(write, address + done, data, delay);
        }
        done += size;
    }
    payload.set_response_status(status);
}

bool register_bank::locate(std::uint64_t address, location& where) const {
    std::uint64_t instance = 0;
    std::uint64_t offset = address;
    if (address >= table_.size) {  // instance 0 needs no division
        instance = stride_shift_ != 0 ? address >> stride_shift_ : address / stride_;
        offset = address - instance * stride_;
        if (instance >= values_.size() || offset >= table_.size) return false;
    }
    where = {static_cast<unsigned>(instance), index_.slot(offset), offset};
    return true;
}

/// One whole, aligned register (or that much of a hole).
tlm::tlm_response_status register_bank::beat(bool is_write, std::uint64_t address,
                                             unsigned char* data, sc_core::sc_time& delay) {
    location where{};
    if (!locate(address, where))
        return refuse(tlm::TLM_ADDRESS_ERROR_RESPONSE, is_write, address, width_);
    if (where.slot == register_index::hole) return hole(is_write, where, data, width_);
    delay += latency_;
    std::uint64_t value = 0;
    if (is_write) {
        std::memcpy(&value, data, width_);
        const auto status = write(where, value, delay);
        return status == tlm::TLM_OK_RESPONSE ? status : refuse(status, true, address, width_);
    }
    const auto status = read(where, value, delay);
    if (status != tlm::TLM_OK_RESPONSE) return refuse(status, false, address, width_);
    std::memcpy(data, &value, width_);
    return status;
}

tlm::tlm_response_status register_bank::read(const location& where, std::uint64_t& value,
                                             sc_core::sc_time& delay) {
    const std::size_t r = index_.row(where.slot);
    const register_row& row = table_.rows[r];
    if (row.bits.readable == 0) return tlm::TLM_COMMAND_ERROR_RESPONSE;
    touched_[r / 64] |= 1ull << (r % 64);
    const unsigned index = where.slot - row.slot;
    const std::uint64_t old =
        views_[r] ? views_[r](where.instance, index) : load(where.instance, where.slot, row);
    value = old & row.bits.readable;
    if (on_read_[r]) {
        register_access a{where.instance, index, old, 0, value, delay};
        on_read_[r](a);
        if (a.response != tlm::TLM_OK_RESPONSE) return a.response;
        value = a.value;
    }
    if (row.bits.drained != 0 && (old & row.bits.drained) != 0)
        store(where.instance, where.slot, old & ~row.bits.drained);
    return tlm::TLM_OK_RESPONSE;
}

tlm::tlm_response_status register_bank::write(const location& where, std::uint64_t written,
                                              sc_core::sc_time& delay) {
    const std::size_t r = index_.row(where.slot);
    const register_row& row = table_.rows[r];
    if (row.bits.writable() == 0) return tlm::TLM_COMMAND_ERROR_RESPONSE;
    touched_[r / 64] |= 1ull << (r % 64);
    const std::uint64_t old = load(where.instance, where.slot, row);
    std::uint64_t value = (old & ~row.bits.stored) | (written & row.bits.stored);
    value &= ~(written & row.bits.clears);
    value |= written & row.bits.sets;
    if (value != old) store(where.instance, where.slot, value);
    if (!on_write_[r]) return tlm::TLM_OK_RESPONSE;
    register_access a{where.instance, where.slot - row.slot, old, written, value, delay};
    on_write_[r](a);
    return a.response;
}

tlm::tlm_response_status register_bank::hole(bool is_write, const location& where,
                                             unsigned char* data, unsigned length) {
    const bool inside = length <= table_.size - where.offset;
    if (table_.holes == hole_policy::error || !inside)
        return refuse(tlm::TLM_ADDRESS_ERROR_RESPONSE, is_write,
                      where.instance * stride_ + where.offset, length);
    if (table_.holes == hole_policy::ram && is_write)
        std::memcpy(ram(where.instance) + where.offset, data, length);
    else if (table_.holes == hole_policy::ram && ram_[where.instance])
        std::memcpy(data, ram_[where.instance].get() + where.offset, length);
    else if (!is_write)
        std::memset(data, 0, length);
    return tlm::TLM_OK_RESPONSE;
}

unsigned char* register_bank::ram(unsigned instance) {
    if (!ram_[instance]) ram_[instance] = std::make_unique<unsigned char[]>(table_.size);
    return ram_[instance].get();
}

tlm::tlm_response_status register_bank::refuse(tlm::tlm_response_status status, bool is_write,
                                               std::uint64_t address, unsigned length) const {
    tlm::tlm_generic_payload speller;
    speller.set_response_status(status);
    log::guest_warn(name_, "{} of {} bytes at {} offset {:#x}: {}", is_write ? "write" : "read",
                    length, table_.block, address, speller.get_response_string());
    return status;
}

unsigned register_bank::debug_access(tlm::tlm_generic_payload& payload) {
    const bool is_write = payload.is_write();
    unsigned done = 0;
    while (done < payload.get_data_length()) {
        location where{};
        if (!locate(payload.get_address() + done, where)) break;
        const unsigned into = static_cast<unsigned>(where.offset & (width_ - 1));
        const unsigned size = std::min(width_ - into, payload.get_data_length() - done);
        unsigned char* data = payload.get_data_ptr() + done;
        if (where.slot == register_index::hole) {
            if (table_.holes == hole_policy::error) break;
            hole(is_write, where, data, size);
        } else {
            if (size < width_) break;
            const std::size_t r = index_.row(where.slot);
            const unsigned index = where.slot - table_.rows[r].slot;
            std::uint64_t value = 0;
            if (is_write) {
                std::memcpy(&value, data, width_);
                poke(r, value, index, where.instance);
            } else {
                value = peek(r, index, where.instance);
                std::memcpy(data, &value, width_);
            }
        }
        done += size;
    }
    return done;
}

std::uint64_t register_bank::peek(std::size_t r, unsigned index, unsigned instance) const {
    const register_row& row = table_.rows[r];
    assert(index < row.count && instance < values_.size());
    return views_[r] ? views_[r](instance, index) : load(instance, row.slot + index, row);
}

void register_bank::poke(std::size_t r, std::uint64_t value, unsigned index, unsigned instance) {
    const register_row& row = table_.rows[r];
    assert(index < row.count && instance < values_.size());
    store(instance, row.slot + index, value);
}

std::uint64_t register_bank::load(unsigned instance, std::uint32_t slot,
                                  const register_row& row) const {
    const unsigned char* values = values_[instance].get();
    if (values == nullptr) return row.reset;
    std::uint64_t value = 0;
    if (width_ == 4) {  // almost every block: one load instead of a call
        std::uint32_t word;
        std::memcpy(&word, values + std::size_t{slot} * 4, 4);
        return word;
    }
    std::memcpy(&value, values + std::size_t{slot} * width_, width_);
    return value;
}

void register_bank::store(unsigned instance, std::uint32_t slot, std::uint64_t value) {
    if (values_[instance] == nullptr) allocate(instance);
    std::memcpy(values_[instance].get() + std::size_t{slot} * width_, &value, width_);
}

void register_bank::allocate(unsigned instance) {
    values_[instance] = std::make_unique<unsigned char[]>(std::size_t{table_.slots} * width_);
    unsigned char* out = values_[instance].get();
    for (const register_row& row : table_.rows)
        for (std::uint32_t i = 0; i < row.count; ++i, out += width_)
            std::memcpy(out, &row.reset, width_);
}

void register_bank::reset() {
    for (auto& values : values_) values.reset();
}

void register_bank::reset(unsigned instance) {
    values_[instance].reset();
}

void register_bank::forget_touches() {
    std::fill(touched_.begin(), touched_.end(), 0);
}

}  // namespace trn
