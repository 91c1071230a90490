// SPDX-License-Identifier: Apache-2.0
#include "platform/app/linux_symbols/task_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace trn {

namespace {

btf::place needed(const btf& types, std::string_view path) {
    const auto found = types.find("task_struct", path);
    if (!found) throw btf_error(fmt::format("the kernel's struct task_struct has no {}", path));
    return *found;
}

constexpr std::uint64_t max_frame = 1 << 16;  // bytes between two frames; a stack has 16 KiB

}  // namespace

task_list::task_list(const btf& types) {
    list_ = needed(types, "tasks").offset;
    const auto name = needed(types, "comm");
    name_ = name.offset;
    name_size_ = std::min<std::uint64_t>(name.count, 64);
    id_ = needed(types, "pid").offset;
    memory_ = needed(types, "mm").offset;
    state_ = needed(types, "__state").offset;
    on_hart_ = needed(types, "on_cpu").offset;
    return_ = needed(types, "thread.ra").offset;
    frame_ = needed(types, "thread.s").offset;  // s0
}

std::optional<linux_task> task_list::task_at(const guest_memory& memory,
                                             std::uint64_t address) const {
    const auto id = memory.number<std::int32_t>(address + id_);
    const auto state = memory.number<std::uint32_t>(address + state_);
    if (!id || !state) return std::nullopt;
    return linux_task{
        .address = address,
        .name = memory.text(address + name_, name_size_),
        .id = *id,
        .is_process = memory.number<std::uint64_t>(address + memory_).value_or(0) != 0,
        .runs = *state == 0 || memory.number<std::uint32_t>(address + on_hart_).value_or(0) != 0,
        .pc = memory.number<std::uint64_t>(address + return_).value_or(0),
        .frame = memory.number<std::uint64_t>(address + frame_).value_or(0)};
}

std::vector<linux_task> task_list::read(const guest_memory& memory, std::uint64_t first) const {
    std::vector<linux_task> all;
    const auto head = first + list_;
    auto next = memory.number<std::uint64_t>(head);
    std::set<std::uint64_t> known;  // a damaged list may not lead back to its head
    while (known.size() < max_tasks && next && *next != head && known.insert(*next).second) {
        auto found = task_at(memory, *next - list_);
        if (!found) break;
        all.push_back(std::move(*found));
        next = memory.number<std::uint64_t>(*next);
    }
    return all;
}

std::vector<std::uint64_t> task_list::callers(const guest_memory& memory, std::uint64_t frame) {
    std::vector<std::uint64_t> all;
    while (all.size() < max_frames && frame % 8 == 0 && frame > 16) {
        // RISC-V's calling convention: the frame pointer and the return address before the frame.
        const auto before = memory.number<std::uint64_t>(frame - 16);
        const auto back = memory.number<std::uint64_t>(frame - 8);
        if (!before || !back) break;
        all.push_back(*back);
        if (*before <= frame || *before - frame > max_frame) break;
        frame = *before;
    }
    return all;
}

}  // namespace trn
