// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/pcie/register_bridge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "models/misuse_rules.h"
#include "models/pcie/pcie/payload_form.h"
#include "models/pcie/pcie/tlp.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/set_access.h"

namespace trn::pcie {

using payload = tlm::tlm_generic_payload;
using sc_core::sc_time;

namespace {

/// The access to some bytes of a request. It is deferred for the request's initiator.
class partial : public payload {
public:
    partial(const payload& whole, std::uint64_t address, std::uint8_t* bytes,
            std::uint64_t length) {
        set_access(*this, whole.get_command(), address, bytes, length);
        set_extension(whole.get_extension<pending_access>());
    }
    ~partial() override { clear_extension<pending_access>(); }
};

/// Whether the chip has refused the byte enables or the streaming width, which are not of a host:
/// its response is then the request's.
bool has_wrong_form(const payload& request) {
    const auto response = request.get_response_status();
    return !is_plain(request) && (response == tlm::TLM_BURST_ERROR_RESPONSE ||
                                  response == tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
}

/// A read of a part of a register reads the whole register; a write of a part fails.
bool may_use_beats(const payload& request, std::uint64_t first, std::uint64_t end) {
    return is_plain(request) && (request.is_read() || (first % 4 == 0 && end % 4 == 0));
}

}  // namespace

/// Registers execute a long access one by one and refuse a part of the last only after the others
/// have had their effects. Therefore parts of words at both ends are accesses of their own.
void register_bridge::access(chip_interface& chip, payload& request, sc_time& delay) {
    const std::uint64_t first = request.get_address(), length = request.get_data_length();
    const std::uint64_t head = std::min(-first & 3, length), tail = (length - head) & 3;
    if (head + tail == 0 || length <= 4 || !is_plain(request))
        return access_memory(chip, request, delay);
    progress present = take_progress(request);
    for (const part bytes :
         {part{0, head}, part{head, length - tail}, part{length - tail, length}}) {
        if (present.done < bytes.end && !access_part(chip, request, bytes, present, delay))
            return keep(request, std::move(present));
    }
    request.set_response_status(tlm::TLM_OK_RESPONSE);
}

void register_bridge::access_memory(chip_interface& chip, payload& request, sc_time& delay) {
    const auto reports = misuse::reports();
    progress present;
    if (!deferred_.empty()) present = take_progress(request);
    if (!present.in_beats) {
        chip.b_transport(request, delay);
        if (request.is_response_ok() || is_deferred(request)) return;
        const std::uint64_t first = request.get_address();
        present.in_beats = request.get_response_status() == tlm::TLM_BURST_ERROR_RESPONSE &&
                           may_use_beats(request, first, first + request.get_data_length());
    }
    const part all{0, request.get_data_length()};
    const outcome result =
        present.in_beats ? access_in_beats(chip, request, all, present, delay) : outcome::failed;
    if (result == outcome::deferred) return keep(request, std::move(present));
    if (result == outcome::failed) return refuse(request, misuse::reports() != reports);
    request.set_response_status(tlm::TLM_OK_RESPONSE);
}

/// Executes a part of a request; like access_memory(). False: the chip has deferred an access.
bool register_bridge::access_part(chip_interface& chip, payload& request, const part& bytes,
                                  progress& present, sc_time& delay) {
    const auto reports = misuse::reports();
    partial whole(request, request.get_address() + bytes.begin,
                  request.get_data_ptr() + bytes.begin, bytes.end - bytes.begin);
    outcome result = outcome::failed;
    if (!present.in_beats) {
        chip.b_transport(whole, delay);
        if (is_deferred(whole)) return false;
        if (whole.is_response_ok()) result = outcome::done;
        present.in_beats = whole.get_response_status() == tlm::TLM_BURST_ERROR_RESPONSE &&
                           may_use_beats(whole, request.get_address() + bytes.begin,
                                         request.get_address() + bytes.end);
    }
    if (present.in_beats) result = access_in_beats(chip, request, bytes, present, delay);
    if (result == outcome::deferred) return false;
    if (result == outcome::failed) refuse(whole, misuse::reports() != reports);
    present.done = bytes.end;
    present.in_beats = false;
    return true;
}

/// Repeats an access of a width that a register has refused in aligned 32-bit beats.
register_bridge::outcome register_bridge::access_in_beats(chip_interface& chip, payload& request,
                                                          const part& bytes, progress& present,
                                                          sc_time& delay) {
    const std::uint64_t first = request.get_address();
    std::uint8_t beat[4];
    for (present.done = std::max(present.done, bytes.begin); present.done < bytes.end;) {
        const std::uint64_t begin = first + present.done, word = begin & ~std::uint64_t{3};
        const std::uint64_t count =
            std::min<std::uint64_t>(word + sizeof beat, first + bytes.end) - begin;
        std::uint8_t* const here = request.get_data_ptr() + present.done;
        if (request.is_write()) std::memcpy(beat, here, count);
        partial access(request, word, beat, sizeof beat);
        chip.b_transport(access, delay);
        if (is_deferred(access)) return outcome::deferred;
        if (!access.is_response_ok()) return outcome::failed;
        if (request.is_read()) std::memcpy(here, beat + (begin - word), count);
        present.done += count;
    }
    return outcome::done;
}

// --- Requests that the chip has deferred

/// The initiator of a request may have abandoned an earlier one.
register_bridge::progress register_bridge::take_progress(payload& request) {
    const auto* const pending = request.get_extension<pending_access>();
    const auto found =
        std::ranges::find(deferred_, pending, &std::pair<const pending_access*, progress>::first);
    if (pending == nullptr || found == deferred_.end()) return {};
    progress present = std::move(found->second);
    deferred_.erase(found);
    if (!pending->is_repeated()) return {};
    std::ranges::copy(present.read, request.get_data_ptr());
    return present;
}

void register_bridge::keep(const payload& request, progress present) {
    if (request.is_read())
        present.read.assign(request.get_data_ptr(), request.get_data_ptr() + present.done);
    deferred_.emplace_back(request.get_extension<pending_access>(), std::move(present));
}

void register_bridge::refuse(payload& request, bool reported) {
    if (!reported) {
        misuse::report(
            request.is_read() ? misuse::host_read_of_nothing : misuse::host_write_to_nothing,
            owner_,
            fmt::format("{} bytes at {:#x}", request.get_data_length(), request.get_address()));
    }
    ++(request.is_read() ? counters_.failed_reads : counters_.dropped_writes);
    if (has_wrong_form(request)) return;
    if (request.is_read()) fill(request, 0);
    request.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace trn::pcie
