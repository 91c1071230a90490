// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/armed_errors.h"

#include <cstddef>
#include <iterator>

namespace trn {

namespace {

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
    const std::uint64_t first = payload.get_address();
    const std::uint64_t end = first + payload.get_data_length();
    auto next = armed_.lower_bound(first / atom * atom);
    while (next != armed_.end() && next->first < end) {
        const auto [offset, error] = *next;
        const bool whole = first <= offset && offset + atom <= end;
        if (payload.is_write() && whole) {
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
