// SPDX-License-Identifier: Apache-2.0
#include "platform/app/linux_symbols/module_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace trn {

namespace {

btf::place needed(const btf& types, std::string_view structure, std::string_view path) {
    const auto found = types.find(structure, path);
    if (!found)
        throw btf_error(fmt::format("the kernel's struct {} has no member {}", structure, path));
    return *found;
}

}  // namespace

module_list::module_list(const btf& types) {
    list_ = needed(types, "module", "list").offset;
    const auto name = needed(types, "module", "name");
    name_ = name.offset;
    name_size_ = std::min<std::uint64_t>(name.count, max_name);
    state_ = needed(types, "module", "state").offset;
    unformed_ = static_cast<std::uint64_t>(types.enumerator("MODULE_STATE_UNFORMED").value_or(3));
    const auto memory = needed(types, "module", "mem");
    memory_ = memory.offset;
    memory_size_ = memory.size;
    memory_count_ = std::min<std::uint64_t>(memory.count, 16);
    base_ = needed(types, "module_memory", "base").offset;
    size_ = needed(types, "module_memory", "size").offset;
    attributes_ = needed(types, "module", "sect_attrs").offset;
    count_ = needed(types, "module_sect_attrs", "nsections").offset;
    const auto all = needed(types, "module_sect_attrs", "attrs");
    first_ = all.offset;
    attribute_size_ = all.size;
    section_name_ = needed(types, "module_sect_attr", "battr.attr.name").offset;
    section_address_ = needed(types, "module_sect_attr", "address").offset;
}

std::vector<loaded_module> module_list::read(const guest_memory& memory, std::uint64_t head) const {
    std::vector<loaded_module> all;
    std::set<std::uint64_t> known;  // a damaged list may not lead back to its head
    auto next = memory.number<std::uint64_t>(head);
    while (known.size() < max_modules && next && *next != head && known.insert(*next).second) {
        const auto address = *next - list_;
        next = memory.number<std::uint64_t>(*next);
        if (memory.number<std::uint32_t>(address + state_).value_or(unformed_) == unformed_)
            continue;
        if (auto found = module_at(memory, address); !found.name.empty())
            all.push_back(std::move(found));
    }
    return all;
}

/// Ranges that the module still occupies: those of its initialization are freed after it.
std::vector<module_list::range> module_list::memory_of(const guest_memory& memory,
                                                       std::uint64_t address) const {
    std::vector<range> all;
    for (std::uint64_t i = 0; i < memory_count_; ++i) {
        const auto place = address + memory_ + i * memory_size_;
        const auto first = memory.number<std::uint64_t>(place + base_);
        const auto size = memory.number<std::uint32_t>(place + size_);
        if (first && size && *size != 0) all.push_back({*first, *size});
    }
    return all;
}

loaded_module module_list::module_at(const guest_memory& memory, std::uint64_t address) const {
    loaded_module found{
        .address = address, .name = memory.text(address + name_, name_size_), .sections = {}};
    const auto attributes = memory.number<std::uint64_t>(address + attributes_).value_or(0);
    if (attributes == 0) return found;
    const auto count = memory.number<std::uint32_t>(attributes + count_).value_or(0);
    const auto occupied = memory_of(memory, address);
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, max_sections); ++i) {
        const auto place = attributes + first_ + i * attribute_size_;
        const auto name = memory.number<std::uint64_t>(place + section_name_).value_or(0);
        const auto start = memory.number<std::uint64_t>(place + section_address_).value_or(0);
        const bool is_there =
            std::ranges::any_of(occupied, [&](const range& r) { return start - r.first < r.size; });
        if (auto text = memory.text(name, max_name); !text.empty() && is_there)
            found.sections.emplace(std::move(text), start);
    }
    return found;
}

}  // namespace trn
