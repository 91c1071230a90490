// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/armed_errors.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "platform/framework/tlm/set_access.h"

namespace trn {

namespace {

/// Number of bytes in [begin, end) of the addressed range that the payload's byte enables let
/// through, in any beat of a streaming burst.
std::uint64_t enabled_bytes(const tlm::tlm_generic_payload& payload, std::uint64_t begin,
                            std::uint64_t end) {
    const unsigned char* const enables = payload.get_byte_enable_ptr();
    const unsigned length = payload.get_byte_enable_length();
    if (enables == nullptr) return end - begin;
    if (length == 0) return 0;  // malformed: the memory refuses it
    const std::uint64_t width = addressed_bytes(payload);
    std::uint64_t count = 0;
    for (std::uint64_t place = begin; place < end; ++place) {
        bool enabled = false;
        for (std::uint64_t i = place; i < payload.get_data_length() && !enabled; i += width)
            enabled = enables[i % length] == TLM_BYTE_ENABLED;
        count += enabled ? 1 : 0;
    }
    return count;
}

std::uint64_t page_of(std::uint64_t address) {
    return address / armed_errors::page * armed_errors::page;
}

}  // namespace

void armed_errors::arm(memory_error error, std::uint64_t offset) {
    armed_[offset / atom * atom] = error;
    revoke_({page_of(offset), page_of(offset) + page - 1});
}

void armed_errors::repair() {
    std::erase_if(armed_,
                  [](const auto& armed) { return armed.second == memory_error::repairable; });
    revoke_(all_);
}

bool armed_errors::pass(const tlm::tlm_generic_payload& payload,
                        const std::function<void(memory_error, std::uint64_t)>& met) {
    if (armed_.empty()) return true;
    const std::size_t before = armed_.size();
    const bool succeeds = check(payload, met);
    if (armed_.size() < before) revoke_(all_);
    return succeeds;
}

bool armed_errors::check(const tlm::tlm_generic_payload& payload,
                         const std::function<void(memory_error, std::uint64_t)>& met) {
    if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) return true;
    const std::uint64_t first = payload.get_address();
    const std::uint64_t end = first + addressed_bytes(payload);
    auto next = armed_.lower_bound(first / atom * atom);
    while (next != armed_.end() && next->first < end) {
        const auto [offset, error] = *next;
        const std::uint64_t begin = std::max(offset, first);
        const std::uint64_t touched =
            enabled_bytes(payload, begin - first, std::min(offset + atom, end) - first);
        if (touched == 0) {
            ++next;
        } else if (payload.is_write() && touched == atom) {
            next = armed_.erase(next);
        } else if (payload.is_write()) {
            ++next;  // a partial write does not repair the other bytes
        } else {
            met(error, offset);
            if (error != memory_error::corrected) return false;
            next = armed_.erase(next);  // corrected and written back
        }
    }
    return true;
}

std::optional<armed_errors::range> armed_errors::clean_around(std::uint64_t address,
                                                              std::uint64_t size) const {
    const auto above = armed_.lower_bound(page_of(address));
    if (above != armed_.end() && above->first < page_of(address) + page) return std::nullopt;
    return range{above == armed_.begin() ? 0 : page_of(std::prev(above)->first) + page,
                 (above == armed_.end() ? size : page_of(above->first)) - 1};
}

}  // namespace trn
