// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/rtl/bus_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "platform/framework/bridges/reports.h"
#include "platform/framework/kernel/time_text.h"
#include "platform/framework/log.h"

namespace trn::rtl {

using sc_core::sc_time;
using sc_core::sc_time_stamp;

bus_target::bus_target(block& owner, const char* name, const register_table* registers)
    : in(name), owner_(owner), calls_(owner), registers_(registers) {
    owner.join(*this);
    in.register_b_transport(this, &bus_target::b_transport);
    in.register_transport_dbg(this, &bus_target::transport_dbg);
    if (registers != nullptr) view_registers(*registers);
}

/// Tools find registers by their names in a bank, which asks the design for values.
void bus_target::view_registers(const register_table& registers) {
    enum class any_register : std::size_t {};
    view_.emplace(registers);
    for (std::size_t number = 0; number < registers.rows.size(); ++number) {
        view_->on_write(any_register{number}, [](register_access& poked) {
            poked.response = tlm::TLM_COMMAND_ERROR_RESPONSE;  // a write needs the clock
        });
        view_->view(any_register{number}, [this, number](unsigned, unsigned index) {
            std::uint64_t value = 0;
            const std::uint64_t address = registers_->rows[number].element(index);
            const auto bytes = reinterpret_cast<std::uint8_t*>(&value);
            bool is_read = false;
            owner_.try_out([&] { is_read = try_read(address, bytes, registers_->width); });
            return is_read ? value : 0;
        });
    }
}

void bus_target::b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
    if (!payload.is_read() && !payload.is_write())
        return payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (const auto response = refusal(payload); response != tlm::TLM_OK_RESPONSE) {
        tell_refused(payload);
        return payload.set_response_status(response);
    }
    call* const added = calls_.enter(payload, delay);
    if (added == nullptr) return;
    if (owner_.is_hung()) return finish(*added, tlm::TLM_GENERIC_ERROR_RESPONSE);
    enqueue(*added);
    owner_.wake(added->start());
}

/// An access whose initiator is further ahead waits behind those that begin earlier.
void bus_target::enqueue(call& added) {
    auto place = queue_.end();
    while (place != queue_.begin() && (*std::prev(place))->start() > added.start()) --place;
    queue_.insert(place, &added);
}

bool bus_target::has_due() const {
    return !queue_.empty() && queue_.front()->start() < sc_time_stamp();
}

std::optional<sc_time> bus_target::due() const {
    if (queue_.empty()) return std::nullopt;
    return queue_.front()->start();
}

bus_target::call* bus_target::next() {
    if (!has_due()) return nullptr;
    call* const first = queue_.front();
    queue_.pop_front();
    return first;
}

void bus_target::finish(call& answered, tlm::tlm_response_status response) {
    answered.set_response_status(response);
    calls_.finish(answered, sc_time_stamp());
}

void bus_target::fail_queued() {
    while (!queue_.empty()) {
        call* const first = queue_.front();
        queue_.pop_front();
        finish(*first, tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
}

tlm::tlm_response_status bus_target::error_of(const tlm::tlm_generic_payload& payload) const {
    if (registers_ == nullptr) return tlm::TLM_GENERIC_ERROR_RESPONSE;
    if (payload.get_address() >= registers_->size) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    const auto& place = register_index::for_table(*registers_).find(payload.get_address());
    if (place.slot == register_index::hole) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    const bit_access& bits = registers_->rows[place.row].bits;
    const bool is_allowed = payload.is_write() ? bits.writable() != 0 : bits.readable != 0;
    return is_allowed ? tlm::TLM_GENERIC_ERROR_RESPONSE : tlm::TLM_COMMAND_ERROR_RESPONSE;
}

bool bus_target::is_over_time(std::uint64_t& waited, const char* handshake, const call& waiting) {
    if (++waited <= owner_.settings().time_out) return false;
    owner_.hang(fmt::format("no {} within {} cycles of {}", handshake, owner_.settings().time_out,
                            describe(waiting)));
    return true;
}

std::optional<std::string> bus_target::describe_wait() const {
    return calls_.describe_wait();
}

unsigned bus_target::transport_dbg(tlm::tlm_generic_payload& payload) {
    if (!payload.is_read() || refusal(payload) != tlm::TLM_OK_RESPONSE) return 0;
    bool is_read = false;
    owner_.try_out([&] {
        is_read =
            try_read(payload.get_address(), payload.get_data_ptr(), payload.get_data_length());
    });
    return is_read ? payload.get_data_length() : 0;
}

tlm::tlm_response_status word_target::refusal(const tlm::tlm_generic_payload& payload) const {
    if (payload.get_byte_enable_ptr() == nullptr && payload.get_data_length() == width_ &&
        payload.get_streaming_width() >= width_ && payload.get_address() % width_ == 0)
        return tlm::TLM_OK_RESPONSE;
    return payload.get_byte_enable_ptr() != nullptr ? tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE
                                                    : tlm::TLM_BURST_ERROR_RESPONSE;
}

void word_target::tell_refused(const tlm::tlm_generic_payload& payload) {
    if (std::exchange(has_told_, true)) return;
    log::guest_warn(in.name(), "a {} is not one word of {} bytes ({})",
                    bridge_report::describe(payload), width_, bus_);
}

std::string word_target::describe(const tlm::tlm_generic_payload& payload) const {
    return fmt::format("a {} ({})", bridge_report::describe(payload), bus_);
}

}  // namespace trn::rtl
