// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/transport/fast_registration.h"

#include <algorithm>
#include <utility>

#include "models/cards/efa/transport/access_size.h"

namespace trn::efa_transport {

using efa_objects::limits;
using efa_objects::memory_region;
using efa_objects::queue_pair;
namespace io = efa_io_regs;
namespace flags = io::fast_flags;
using io::reg;

void fast_registration::forget(std::uint32_t handle) {
    if (list_ && list_->queue_pair % limits::max_qp == handle) list_.reset();
}

memory_region* fast_registration::region_of(const work_request_words& words, const queue_pair& qp) {
    memory_region* const found = objects_.regions.find(words.get(io::fast_key::lkey));
    const bool usable = found != nullptr && found->domain() == qp.domain && found->max_pages() != 0;
    return usable ? found : nullptr;
}

bool fast_registration::read_pages(const work_request_words& words, const queue_pair& qp) {
    const bool has_list =
        words.get(io::work_request::operation) == io::work_request::operation_fast_register &&
        words.get(flags::list) == flags::list_direct;
    const memory_region* const region = has_list ? region_of(words, qp) : nullptr;
    if (region == nullptr) return true;
    const std::uint64_t count =
        memory_region::pages_of(words.get_wide(reg::fast_start_lo),
                                words.get_wide(reg::fast_length_lo), words.get(flags::page_shift));
    if (count > region->max_pages()) return true;
    // While the access was deferred, the host may have overwritten the work request.
    if (!list_ || list_->queue_pair != qp.number || list_->pages.size() != count)
        list_.emplace(qp.number, count, wake_);
    auto* const bytes = reinterpret_cast<std::uint8_t*>(list_->pages.data());
    while (list_->filled < count * sizeof(std::uint64_t)) {
        const std::uint64_t address = words.get_wide(reg::fast_pages_lo) + list_->filled;
        const auto length = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(count * sizeof(std::uint64_t) - list_->filled,
                                    max_access_bytes - address % max_access_bytes));
        sc_core::sc_time delay;
        const auto outcome = memory_.access(tlm::TLM_READ_COMMAND, address, bytes + list_->filled,
                                            length, list_->pending, delay);
        if (outcome == memory_port::outcome::deferred) return false;
        if (outcome == memory_port::outcome::failed) {
            list_.reset();
            return true;
        }
        list_->filled += length;
    }
    return true;
}

status fast_registration::enroll(const work_request_words& words, const queue_pair& qp) {
    memory_region* const region = region_of(words, qp);
    if (region == nullptr) return status::local_bad_lkey;
    const auto shift = words.get(flags::page_shift);
    if (shift < limits::min_page_shift || words.get(flags::list) > flags::list_direct)
        return status::local_unsupported;
    std::vector<std::uint64_t> pages;
    if (words.get(flags::list) == flags::list_inline)
        pages.push_back(words.get_wide(reg::fast_pages_lo));
    else if (list_)
        pages = std::move(list_->pages);
    const memory_region::permissions allowed{
        .local_write = words.get(flags::local_write) != 0,
        .remote_write = permitted_.rdma_write && words.get(flags::remote_write) != 0,
        .remote_read = permitted_.rdma_read && words.get(flags::remote_read) != 0};
    const bool enrolled =
        region->enroll(words.get_wide(reg::fast_start_lo), words.get_wide(reg::fast_length_lo),
                       shift, std::move(pages), allowed);
    return enrolled ? status::ok : status::local_bad_length;
}

status fast_registration::withdraw(const work_request_words& words, const queue_pair& qp) {
    memory_region* const region = region_of(words, qp);
    return region != nullptr && region->withdraw() ? status::ok : status::local_bad_lkey;
}

}  // namespace trn::efa_transport
