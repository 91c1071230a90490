// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/pcie/register_bridge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "models/misuse_rules.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/set_access.h"

namespace trn::pcie {

using payload = tlm::tlm_generic_payload;
using sc_core::sc_time;

namespace {

/// Sets up a payload for one of several accesses.
void prepare(payload& part, tlm::tlm_command command, std::uint64_t address, std::uint8_t* bytes,
             std::size_t count) {
    set_access(part, command, address, bytes, count);
    part.set_dmi_allowed(false);
    part.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

/// Repeats an access of a width that a register has refused in aligned 32-bit beats. A read of a
/// part of a register reads the whole register; a write of a part fails.
bool access_in_beats(tlm::tlm_fw_transport_if<>& chip, payload& request, sc_time& delay) {
    const std::uint64_t first = request.get_address() & ~std::uint64_t{3};
    const std::uint64_t end = request.get_address() + request.get_data_length();
    const bool whole = first == request.get_address() && end % 4 == 0;
    if (request.get_byte_enable_ptr() != nullptr || (request.is_write() && !whole)) return false;

    std::uint8_t beat[4];
    payload part;
    for (std::uint64_t address = first; address < end; address += sizeof beat) {
        const std::uint64_t begin = std::max<std::uint64_t>(address, request.get_address());
        const std::uint64_t count = std::min<std::uint64_t>(address + sizeof beat, end) - begin;
        std::uint8_t* bytes = request.get_data_ptr() + (begin - request.get_address());
        if (request.is_write()) std::memcpy(beat, bytes, count);
        prepare(part, request.get_command(), address, beat, sizeof beat);
        chip.b_transport(part, delay);
        if (!part.is_response_ok()) return false;
        if (request.is_read()) std::memcpy(bytes, beat + (begin - address), count);
    }
    request.set_response_status(tlm::TLM_OK_RESPONSE);
    return true;
}

}  // namespace

/// Registers execute a long access one by one and refuse a part of the last only after the others
/// have had their effects. Therefore parts of words at both ends are accesses of their own.
void register_bridge::access(tlm::tlm_fw_transport_if<>& chip, payload& request, sc_time& delay) {
    const std::uint64_t first = request.get_address(), length = request.get_data_length();
    const std::uint64_t head = std::min(-first & 3, length), tail = (length - head) & 3;
    if (head + tail == 0 || length <= 4 || request.get_byte_enable_ptr() != nullptr)
        return access_memory(chip, request, delay);
    payload part;
    for (std::uint64_t done = 0; done < length;) {
        const std::uint64_t count = done < head            ? head
                                    : done < length - tail ? length - tail - done
                                                           : tail;
        prepare(part, request.get_command(), first + done, request.get_data_ptr() + done, count);
        access_memory(chip, part, delay);
        done += count;
    }
    request.set_response_status(tlm::TLM_OK_RESPONSE);
}

void register_bridge::access_memory(tlm::tlm_fw_transport_if<>& chip, payload& request,
                                    sc_time& delay) {
    const auto reports = misuse::reports();
    chip.b_transport(request, delay);
    if (request.is_response_ok()) return;
    if (request.get_response_status() == tlm::TLM_BURST_ERROR_RESPONSE &&
        access_in_beats(chip, request, delay))
        return;
    refuse(request, misuse::reports() != reports);
}

void register_bridge::refuse(payload& request, bool reported) {
    if (!reported) {
        misuse::report(
            request.is_read() ? misuse::host_read_of_nothing : misuse::host_write_to_nothing,
            owner_,
            fmt::format("{} bytes at {:#x}", request.get_data_length(), request.get_address()));
    }
    if (request.is_read()) {
        ++counters_.failed_reads;
        std::fill_n(request.get_data_ptr(), request.get_data_length(), std::uint8_t{0});
    } else {
        ++counters_.dropped_writes;
    }
    request.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace trn::pcie
