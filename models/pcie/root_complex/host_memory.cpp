// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/root_complex/host_memory.h"

#include <algorithm>
#include <cstring>

#include "models/pcie/pcie/tlp.h"
#include "platform/framework/tlm/loan.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/refuse_pointer.h"
#include "platform/framework/tlm/route.h"

namespace trn::pcie {

namespace {

bool contains(const host_memory::range& range, std::uint64_t address) {
    return address >= range.iova && address - range.iova < range.size;
}

}  // namespace

bool host_memory::map(const range& added) {
    const std::uint64_t last = added.iova + (added.size - 1);
    if (added.size == 0 || last < added.iova) return false;
    const auto next = ranges_.upper_bound(added.iova);
    if (next != ranges_.end() && next->first <= last) return false;
    if (next != ranges_.begin() && contains(std::prev(next)->second, added.iova)) return false;
    ranges_.emplace_hint(next, added.iova, added);
    std::erase_if(freed_, [&](const auto& freed) {
        return freed.first <= last && freed.second >= added.iova;
    });
    return true;
}

bool host_memory::unmap(std::uint64_t iova, std::uint64_t size,
                        const std::function<void(const range&)>& forgotten) {
    if (size == 0) return true;
    const std::uint64_t last = iova + (size - 1);
    if (last < iova) return false;
    const auto below = find(iova), above = find(last);
    if (below != ranges_.end() && below->first != iova) return false;
    if (above != ranges_.end() && above->first + (above->second.size - 1) != last) return false;

    const auto first_out = ranges_.lower_bound(iova), end_out = ranges_.upper_bound(last);
    last_hit_ = ranges_.end();
    const ranges_by_iova gone(first_out, end_out);
    ranges_.erase(first_out, end_out);
    for (const auto& [start, range] : gone) {
        freed_.emplace_back(range.iova, range.iova + (range.size - 1));
        if (freed_.size() > max_freed) freed_.pop_front();
        forgotten(range);
    }
    return true;
}

/// Whether the address was in one of the ranges that were unmapped last.
bool host_memory::was_freed(std::uint64_t address) const {
    return std::ranges::any_of(freed_, [address](const auto& freed) {
        return address >= freed.first && address <= freed.second;
    });
}

host_memory::ranges_by_iova::const_iterator host_memory::find(std::uint64_t address) const {
    if (last_hit_ != ranges_.end() && contains(last_hit_->second, address)) return last_hit_;
    const auto next = ranges_.upper_bound(address);
    if (next == ranges_.begin() || !contains(std::prev(next)->second, address))
        return ranges_.end();
    return last_hit_ = std::prev(next);
}

/// How [address, address + length) can be accessed. It may span several ranges, since clients split
/// their RAM.
host_memory::reach host_memory::span(std::uint64_t address, std::uint64_t length,
                                     bool write) const {
    reach found = reach::direct;
    while (length > 0) {
        const auto found_at = find(address);
        if (found_at == ranges_.end() || found_at->second.is_lost()) return reach::nowhere;
        const range& mapped = found_at->second;
        if (write ? !mapped.writable : !mapped.readable) return reach::forbidden;
        if (mapped.bytes == nullptr) found = reach::messages;
        const std::uint64_t count = std::min(length, mapped.size - (address - mapped.iova));
        address += count;
        length -= count;
    }
    return found;
}

/// False: a range was lost during the copy.
bool host_memory::copy(std::uint64_t address, std::uint8_t* bytes, std::uint64_t length,
                       bool write) const {
    bool complete = true;
    while (length > 0) {
        const range& mapped = find(address)->second;
        const std::uint64_t count = std::min(length, mapped.size - (address - mapped.iova));
        std::uint8_t* host = mapped.bytes + (address - mapped.iova);
        // Data that this memory has lent may be stored at an overlapping place.
        std::memmove(write ? host : bytes, write ? bytes : host, count);
        complete = complete && !mapped.is_lost();
        address += count;
        bytes += count;
        length -= count;
    }
    return complete;
}

void host_memory::transport(tlm::tlm_generic_payload& payload) {
    const std::uint64_t address = payload.get_address();
    const unsigned length = payload.get_data_length();
    if (payload.get_byte_enable_ptr() != nullptr)
        return payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    if (payload.get_streaming_width() < length)
        return payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) return;

    switch (span(address, length, payload.is_write())) {
    case reach::direct:
        if (!lend(payload)) move(payload);
        break;
    case reach::messages:
        if (length <= max_question) {
            exchange(payload);
        } else {
            payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        }
        break;
    case reach::nowhere:
    case reach::forbidden:
        ++unmapped_accesses_;
        if (auto* const header = payload.get_extension<tlp>()) header->freed = was_freed(address);
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
}

/// A watcher needs a copy, because it stores the bytes at the time of the access.
bool host_memory::lend(tlm::tlm_generic_payload& payload) const {
    auto* const asked = payload.get_extension<loan>();
    if (asked == nullptr || watcher_ != nullptr || !payload.is_read()) return false;
    const range& mapped = find(payload.get_address())->second;
    const std::uint64_t offset = payload.get_address() - mapped.iova;
    if (payload.get_data_length() > mapped.size - offset) return false;
    asked->bytes = mapped.bytes + offset;
    return true;
}

void host_memory::move(tlm::tlm_generic_payload& payload) {
    const std::uint64_t address = payload.get_address();
    const std::span<std::uint8_t> bytes(payload.get_data_ptr(), payload.get_data_length());
    if (!copy(address, bytes.data(), bytes.size(), payload.is_write()))
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    if (watcher_ == nullptr) return;
    if (payload.is_write())
        watcher_->has_written(address, bytes);
    else
        watcher_->has_read(address, bytes);
}

unsigned host_memory::transport_dbg(tlm::tlm_generic_payload& payload) {
    const std::uint64_t address = payload.get_address();
    const unsigned length = payload.get_data_length();
    if (span(address, length, payload.is_write()) != reach::direct) return 0;
    copy(address, payload.get_data_ptr(), length, payload.is_write());
    return length;
}

bool host_memory::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    const auto found = find(payload.get_address());
    if (found == ranges_.end() || found->second.is_lost()) return refuse_pointer(payload, dmi);
    memory_attribute::answer(payload);
    const range* mapped = &found->second;
    dmi.allow_read_write();
    dmi.set_start_address(mapped->iova);
    dmi.set_end_address(mapped->iova + (mapped->size - 1));
    if (mapped->bytes == nullptr) return false;
    memory_attribute::answer(payload);
    // An initiator that does not collect its route could reserve no link.
    auto* const way = payload.get_extension<route>();
    if (way == nullptr) return false;
    if (watcher_ != nullptr) {
        way->watcher = watcher_;
        way->watched_address = payload.get_address();
    }
    dmi.set_dmi_ptr(mapped->bytes);
    const bool granted = payload.is_write() ? mapped->writable : mapped->readable;
    if (mapped->readable == mapped->writable)
        dmi.allow_read_write();
    else if (mapped->readable == granted)  // a refusal names the other access
        dmi.allow_read();
    else
        dmi.allow_write();
    return granted;
}

// --- Memory accessed by messages

void host_memory::carry(host_messages* carrier) {
    carrier_ = carrier;
    for (auto& asked : questions_) {  // they will not be answered
        if (asked != nullptr && asked->asker.is_used()) answer(asked->ticket, {});
    }
    carrier_ready();
}

void host_memory::carrier_ready() {
    room_.wake();
}

void host_memory::exchange(tlm::tlm_generic_payload& payload) {
    if (carrier_ == nullptr) {
        payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    } else if (payload.is_write()) {
        if (!carrier_->write(payload.get_address(),
                             {payload.get_data_ptr(), payload.get_data_length()}))
            room_.hold(payload);
    } else if (payload.get_extension<pending_access>() == nullptr) {
        payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    } else if (question* asked = question_of(payload)) {
        take_answer(payload, *asked);
    } else {
        ask(payload);
    }
}

void host_memory::ask(tlm::tlm_generic_payload& payload) {
    // Frees the slot of an earlier attempt if the path led to another address then.
    payload.get_extension<pending_access>()->abandon();
    question* asked = free_question();
    const std::uint64_t ticket = last_ticket_ + 1;
    const auto answered = [this, ticket](std::span<const std::uint8_t> bytes) {
        answer(ticket, bytes);
    };
    if (asked == nullptr ||
        !carrier_->read(payload.get_address(), payload.get_data_length(), answered))
        return room_.hold(payload);
    last_ticket_ = ticket;
    asked->ticket = ticket;
    asked->iova = payload.get_address();
    asked->answered = false;
    asked->asker.hold(payload);
}

void host_memory::take_answer(tlm::tlm_generic_payload& payload, question& asked) {
    if (!asked.answered) return asked.asker.hold(payload);
    const bool fits = asked.data.size() == payload.get_data_length();
    if (fits) std::memcpy(payload.get_data_ptr(), asked.data.data(), asked.data.size());
    payload.set_response_status(fits ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
}

host_memory::question* host_memory::free_question() {
    for (auto& slot : questions_) {
        if (slot == nullptr) slot = std::make_unique<question>([this] { carrier_ready(); });
        if (!slot->asker.is_used()) return slot.get();
    }
    return nullptr;
}

/// The question of an earlier attempt, unless the path leads to another address now.
host_memory::question* host_memory::question_of(const tlm::tlm_generic_payload& payload) {
    for (auto& slot : questions_) {
        if (slot != nullptr && slot->asker.holds(payload))
            return slot->iova == payload.get_address() ? slot.get() : nullptr;
    }
    return nullptr;
}

/// Responses to abandoned questions are dropped: their tickets are no longer in use.
void host_memory::answer(std::uint64_t ticket, std::span<const std::uint8_t> bytes) {
    for (auto& slot : questions_) {
        if (slot == nullptr || slot->ticket != ticket || !slot->asker.is_used() || slot->answered)
            continue;
        slot->answered = true;
        slot->data.assign(bytes.begin(), bytes.end());
        slot->asker.wake();
    }
}

}  // namespace trn::pcie
