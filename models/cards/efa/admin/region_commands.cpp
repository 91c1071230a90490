// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/admin/region_commands.h"

#include <utility>

namespace trn {

using namespace efa_objects;
using nitro::answered;
using nitro::done;
using nitro::refuse;
using nitro::status;
using nitro::step;
namespace regs = efa_admin_regs;
using regs::reg;

memory_region::permissions region_commands::allowed(const entry& command) const {
    return {
        .local_write = command.get(regs::reg_mr_flags::local_write) != 0,
        .remote_write = permitted_.rdma_write && command.get(regs::reg_mr_flags::remote_write) != 0,
        .remote_read = permitted_.rdma_read && command.get(regs::reg_mr_flags::remote_read) != 0};
}

step region_commands::enroll(const nitro::admin_entry& header, const entry& command) {
    const auto shift = command.get(regs::reg_mr_flags::page_shift);
    const auto start = command.get_wide(reg::reg_mr_start_lo);
    const auto length = command.get_wide(reg::reg_mr_length_lo);
    if (objects_.domains.find(command.get(regs::reg_mr::pd)) == nullptr)
        return refuse(status::illegal_parameter);
    command_ = command;
    if (command.get(regs::reg_mr_flags::physical) != 0)
        return finish(
            memory_region::make_physical(static_cast<std::uint16_t>(command.get(regs::reg_mr::pd)),
                                         start, length, allowed(command)));
    if (shift < limits::min_page_shift || shift > limits::max_page_shift)
        return refuse(status::illegal_parameter);
    // Drivers may leave out the number of pages: compute it from the range.
    const auto needed = memory_region::pages_of(start, length, shift);
    if (needed == 0 || needed > limits::max_mr_pages) return refuse(status::illegal_parameter);
    if (needed > limits::max_pages - objects_.pages) return refuse(status::no_resources);
    const auto pages = static_cast<std::uint32_t>(needed);
    constexpr std::uint32_t inline_pages = 4;
    const std::uint64_t list = command.get_wide(reg::reg_mr_list_lo);
    if (header.get(nitro_admin_regs::command::control_data) == 0) {
        if (pages > inline_pages) return refuse(status::illegal_parameter);
        list_ = page_list::direct(0, pages);
        return resume(command_.bytes().subspan(entry::byte(reg::reg_mr_page_0_lo), pages * 8));
    }
    list_ = header.get(nitro_admin_regs::command::indirect) != 0 ? page_list::indirect(list, pages)
                                                                 : page_list::direct(list, pages);
    const auto first = list_->next();
    return nitro::memory_request{.address = first.address, .bytes = first.bytes};
}

step region_commands::resume(std::span<const std::uint8_t> bytes) {
    if (bytes.empty()) {
        list_.reset();
        return refuse(status::illegal_parameter);
    }
    list_->take(bytes);
    if (!list_->complete()) {
        const auto next = list_->next();
        return nitro::memory_request{.address = next.address, .bytes = next.bytes};
    }
    auto pages = std::move(*list_).pages();
    list_.reset();
    return finish(memory_region::make(
        static_cast<std::uint16_t>(command_.get(regs::reg_mr::pd)),
        command_.get_wide(reg::reg_mr_start_lo), command_.get_wide(reg::reg_mr_length_lo),
        command_.get(regs::reg_mr_flags::page_shift), std::move(pages), allowed(command_)));
}

step region_commands::finish(std::optional<memory_region> made) {
    // Commands are executed one at a time, so the domain still exists.
    if (!made) return refuse(status::illegal_parameter);
    domain& owner = *objects_.domains.find(made->domain());
    const std::uint64_t pages = made->page_count();
    const auto key = objects_.regions.add(std::move(*made));
    if (!key) return refuse(status::no_resources);
    objects_.pages += pages;
    ++owner.users;
    entry words;
    words.set(reg::mr_lkey, *key);
    words.set(reg::mr_rkey, *key);
    return answered(words);
}

/// Allocates a region without pages; a work request registers its pages.
step region_commands::allocate(const entry& command) {
    const auto pd = command.get(regs::alloc_mr::pd);
    const auto pages = command.get(reg::alloc_mr_max_pages);
    if (objects_.domains.find(pd) == nullptr || pages == 0 || pages > limits::max_fast_pages)
        return refuse(status::illegal_parameter);
    if (pages > limits::max_pages - objects_.pages) return refuse(status::no_resources);
    return finish(memory_region::make_free(static_cast<std::uint16_t>(pd), pages));
}

step region_commands::remove(const entry& command) {
    const auto key = command.get(reg::dereg_mr_lkey);
    const memory_region* const found = objects_.regions.find(key);
    if (found == nullptr) return refuse(status::illegal_parameter);
    --objects_.domains.find(found->domain())->users;
    objects_.pages -= found->page_count();
    objects_.regions.remove(key);
    return done();
}

}  // namespace trn
