// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/registers/exchange/regular.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/framework/config/diagnostics.h"

namespace trn::registers {

namespace {

bool is_regular(const std::vector<array_dimension>& dims) {
    for (std::size_t i = 1; i < dims.size(); ++i)
        if (dims[i - 1].stride != dims[i].stride * dims[i].count) return false;
    return true;
}

std::string shown_name(const item_spec& item) {
    return item.reg ? item.reg->name : item.prefix + "*";
}

std::uint64_t start(const item_spec& item) {
    return item.reg ? item.reg->offset : item.base;
}
std::uint64_t& start_of(item_spec& item) {
    return item.reg ? item.reg->offset : item.base;
}
std::vector<array_dimension>& dims_of(item_spec& item) {
    return item.reg ? item.reg->dims : item.dims;
}
const std::vector<array_dimension>& dims_of(const item_spec& item) {
    return item.reg ? item.reg->dims : item.dims;
}
std::uint64_t element_size(const item_spec& item, unsigned width) {
    std::uint64_t size = item.reg ? width : 0;
    for (const auto& each : item.items) size = std::max(size, item_end(each, width));
    return size;
}

class regulator {
public:
    regulator(const std::string& file, unsigned width) : file_(file), width_(width) {}

    std::vector<item_spec> all(std::vector<item_spec> items) {
        std::ranges::stable_sort(items, {}, start);
        std::vector<item_spec> out;
        for (std::size_t i = 0; i < items.size();) {
            // Items whose elements lie between each other's
            std::size_t next = i + 1;
            auto reached = end(items[i]);
            for (; next < items.size() && start(items[next]) < reached; ++next)
                reached = std::max(reached, end(items[next]));
            out.push_back(one(next == i + 1 ? std::move(items[i]) : merged(items, i, next)));
            i = next;
        }
        return out;
    }

private:
    std::uint64_t end(const item_spec& item) const { return item_end(item, width_); }

    /// A group without prefix around items, for their outermost dimension.
    item_spec merged(std::vector<item_spec>& items, std::size_t begin,
                     std::size_t end_index) const {
        item_spec outer{.base = start(items[begin]), .place = items[begin].place};
        const auto first = shown_name(items[begin]);
        for (std::size_t i = begin; i < end_index; ++i) {
            auto& item = items[i];
            auto& dims = dims_of(item);
            if (dims.empty() || (i > begin && (dims[0].stride != outer.dims[0].stride ||
                                               dims[0].count != outer.dims[0].count)))
                refuse(item, fmt::format("'{}' lies between elements of '{}'", shown_name(item),
                                         i > begin ? first : shown_name(items[i + 1])));
            if (i == begin) outer.dims = {dims[0]};
            dims.erase(dims.begin());
            start_of(item) -= outer.base;
            outer.items.push_back(std::move(item));
        }
        return outer;
    }

    item_spec one(item_spec item) {
        const auto& dims = dims_of(item);
        if (!is_regular(dims)) {
            std::vector<item_spec> alone;
            alone.push_back(std::move(item));
            return one(merged(alone, 0, 1));
        }
        if (!item.reg) item.items = all(item.items);
        if (!dims.empty() && dims.back().count > 1 &&
            dims.back().stride < element_size(item, width_))
            refuse(item, fmt::format("elements of '{}' overlap", shown_name(item)));
        return item;
    }

    [[noreturn]] void refuse(const item_spec& item, std::string message) const {
        throw config_error({.code = mistake::bad_array,
                            .file = file_,
                            .line = item.place.line,
                            .column = item.place.column,
                            .message = message + ": SystemRDL and IP-XACT have no such arrays",
                            .suggestion = "describe registers that repeat together as a group"});
    }

    const std::string& file_;
    const unsigned width_;
};

}  // namespace

std::vector<item_spec> regular_items(const std::vector<item_spec>& items, const std::string& file,
                                     unsigned width) {
    return regulator(file, width).all(items);
}

std::uint64_t item_end(const item_spec& item, unsigned width) {
    std::uint64_t last = start(item);
    for (const auto& dim : dims_of(item)) last += dim.stride * (dim.count - 1);
    return last + element_size(item, width);
}

std::string group_name(const item_spec& group, std::set<std::string>& taken) {
    std::string name = group.prefix;
    while (name.ends_with('_')) name.pop_back();
    if (name.empty()) name = "GROUP";
    const std::string stem = name;
    for (int n = 2; !taken.insert(name).second; ++n) name = fmt::format("{}_{}", stem, n);
    return name;
}

}  // namespace trn::registers
