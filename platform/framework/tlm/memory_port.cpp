// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/memory_port.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "platform/framework/kernel/trace.h"
#include "platform/framework/tlm/loan.h"
#include "platform/framework/tlm/set_access.h"

namespace trn {

namespace {

constexpr std::size_t max_windows = 1024;  // memories of a chip and its peers, and host ranges

}  // namespace

sc_core::sc_time memory_port::window::reserve_and_trace(tlm::tlm_command command,
                                                        std::uint64_t address, std::uint64_t bytes,
                                                        const sc_core::sc_time& start) const {
    std::vector<sc_core::sc_time> left(hops.size());
    const auto through =
        reserve_hops(command, address, bytes, start,
                     [&left](std::size_t hop, const sc_core::sc_time& time) { left[hop] = time; });
    for (std::size_t n = 0; n < left.size(); ++n) {  // in the direction of the data
        const auto hop = command == tlm::TLM_WRITE_COMMAND ? n : hops.size() - 1 - n;
        hops[hop].resource->crossed(command, bytes, start, left[hop]);
    }
    return through;
}

std::ptrdiff_t memory_port::after(std::uint64_t address) const {
    return std::ranges::upper_bound(spans_, address, {}, &span::first) - spans_.begin();
}

const memory_port::window* memory_port::search(tlm::tlm_command command,
                                               std::uint64_t address) const {
    // The window before it may contain the address.
    const auto found = static_cast<std::size_t>(after(address));
    if (found == 0 || !spans_[found - 1].holds(address)) return nullptr;
    latest_[command == tlm::TLM_WRITE_COMMAND ? 1 : 0] = found - 1;
    const window& holding = windows_[found - 1];
    return holding.allows(command) ? &holding : nullptr;
}

void memory_port::prepare(tlm::tlm_command command, std::uint64_t address, void* bytes,
                          unsigned length) {
    set_access(payload_, command, address, bytes, length);
    payload_.set_byte_enable_ptr(nullptr);
    payload_.set_dmi_allowed(false);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

const memory_port::window* memory_port::request(tlm::tlm_command command, std::uint64_t address) {
    prepare(command, address, nullptr, 0);
    route way;
    payload_.set_extension(&way);
    tlm::tlm_dmi dmi;
    const bool granted = socket_->get_direct_mem_ptr(payload_, dmi);
    payload_.clear_extension(&way);
    if (!granted || dmi.get_start_address() > address || dmi.get_end_address() < address)
        return nullptr;

    window added{dmi.get_start_address(),
                 dmi.get_end_address(),
                 dmi.get_dmi_ptr(),
                 dmi.is_read_allowed(),
                 dmi.is_write_allowed(),
                 dmi.get_read_latency(),
                 dmi.get_write_latency(),
                 {way.hops.begin(), way.hops.begin() + way.count},
                 {way.watcher, way.watched_address - (address - dmi.get_start_address())}};
    if (!added.allows(command)) return nullptr;
    for (route::hop& hop : added.hops) hop.address -= address - added.first;
    return &keep(std::move(added));
}

const memory_port::window& memory_port::keep(window added) {
    invalidate(added.first, added.last);  // a new window replaces overlapping older ones
    if (windows_.size() == max_windows) {
        const auto victim = static_cast<std::ptrdiff_t>(next_victim_++ % max_windows);
        spans_.erase(spans_.begin() + victim);
        windows_.erase(windows_.begin() + victim);
    }
    const auto place = after(added.first);
    spans_.insert(spans_.begin() + place, {added.first, added.last});
    return *windows_.insert(windows_.begin() + place, std::move(added));
}

memory_port::outcome memory_port::access(tlm::tlm_command command, std::uint64_t address,
                                         void* bytes, unsigned length, pending_access& pending,
                                         sc_core::sc_time& delay) {
    // The target has the response to a deferred access.
    const window* direct = pending.is_deferred() ? nullptr : known(command, address);
    if (direct == nullptr || direct->room(address, length) < length)
        return transport(command, address, bytes, length, pending, delay);
    auto* const here = static_cast<std::uint8_t*>(bytes);
    if (command == tlm::TLM_WRITE_COMMAND) {
        std::memmove(direct->at(address), here, length);  // lent bytes may overlap
        direct->watched_at(address).report_write(here, length);
    } else {
        std::memcpy(here, direct->at(address), length);
        direct->watched_at(address).report_read(here, length);
    }
    take_time(*direct, command, address, length, delay);
    return outcome::done;
}

/// Adds the time of an access through a window's pointer to `delay`.
void memory_port::take_time(const window& through, tlm::tlm_command command, std::uint64_t address,
                            unsigned length, sc_core::sc_time& delay) {
    const auto now = sc_core::sc_time_stamp();
    const auto left = through.reserve(command, address, length, now + delay) - now;
    delay = std::max(delay + through.latency(command), left);
}

memory_port::outcome memory_port::borrow(std::uint64_t address, void* bytes, unsigned length,
                                         pending_access& pending, sc_core::sc_time& delay,
                                         const std::uint8_t*& lent) {
    const window* direct = pending.is_deferred() ? nullptr : known(tlm::TLM_READ_COMMAND, address);
    // A watcher needs a copy, because it stores the bytes at the time of the access.
    if (direct != nullptr && direct->watched.watcher == nullptr &&
        direct->room(address, length) == length) {
        lent = direct->at(address);
        take_time(*direct, tlm::TLM_READ_COMMAND, address, length, delay);
        return outcome::done;
    }
    loan asked;
    payload_.set_extension(&asked);
    const outcome result = access(tlm::TLM_READ_COMMAND, address, bytes, length, pending, delay);
    payload_.clear_extension(&asked);
    lent = asked.bytes;
    return result;
}

memory_port::outcome memory_port::transport(tlm::tlm_command command, std::uint64_t address,
                                            void* bytes, unsigned length, pending_access& pending,
                                            sc_core::sc_time& delay) {
    prepare(command, address, bytes, length);
    pending.attempt(payload_);
    payload_.set_extension(&pending);
    socket_->b_transport(payload_, delay);
    payload_.clear_extension(&pending);
    switch (payload_.get_response_status()) {
    case tlm::TLM_OK_RESPONSE:
        pending.abandon();
        if (payload_.is_dmi_allowed()) find(command, address);  // for the next access
        return outcome::done;
    case tlm::TLM_INCOMPLETE_RESPONSE:
        if (pending.is_deferred()) return outcome::deferred;
        [[fallthrough]];  // the target set no response
    default:
        pending.abandon();
        return outcome::failed;
    }
}

void memory_port::invalidate(std::uint64_t first, std::uint64_t last) {
    const auto meets = [&](const auto& each) { return each.first <= last && each.last >= first; };
    std::erase_if(windows_, meets);
    std::erase_if(spans_, meets);
}

}  // namespace trn
