// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/programs/collectives.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace trn {

namespace {

constexpr std::uint64_t default_limit_ns = 10'000'000;

[[noreturn]] void refuse(const std::string& why) {
    throw std::runtime_error(why);
}

template <class E>
E named_value(std::string_view text, std::string_view key) {
    for (const auto& entry : names_of<E>::list)
        if (entry.name == text) return entry.value;
    std::vector<std::string_view> names;
    for (const auto& entry : names_of<E>::list) names.push_back(entry.name);
    refuse(fmt::format("'{}' is not {} ({})", text, key, fmt::join(names, ", ")));
}

std::uint32_t number(std::string_view text, std::string_view key, std::uint32_t max) {
    std::uint32_t value = 0;
    const auto end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end || value > max)
        refuse(fmt::format("{} is a number from 0 to {}, not '{}'", key, max, text));
    return value;
}

void read_option(collective_request& request, std::string_view key, std::string_view value) {
    constexpr std::uint32_t max_limit_us = 1'000'000'000, max_lanes = 16;
    if (key == "algorithm")
        request.algorithm = named_value<trn_coll_algorithm>(value, "an algorithm");
    else if (key == "operator")
        request.with = named_value<trn_coll_operator>(value, "an operator");
    else if (key == "root")
        request.root = number(value, key, TRN_COLL_RANKS - 1);
    else if (key == "channels")
        request.channels = number(value, key, TRN_COLL_CHANNELS);
    else if (key == "lanes")
        request.lanes = number(value, key, max_lanes);
    else if (key == "limit_us")
        request.limit_ns = std::uint64_t{1000} * number(value, key, max_limit_us);
    else
        refuse(
            fmt::format("'{}' is not an option of a collective (algorithm, operator, root, "
                        "channels, lanes, limit_us)",
                        key));
}

bool is_semaphore(std::string_view word) {
    return word.starts_with("S[") && word.ends_with(']');
}

}  // namespace

program_collective program_collective::read(const std::string& text) {
    program_collective made;
    collective_request& request = made.request;
    request.channels = 1;
    request.limit_ns = default_limit_ns;
    std::istringstream words(text);
    std::string word;
    if (!(words >> word)) refuse("a collective begins with its operation, such as all_reduce");
    request.op = named_value<trn_coll_op>(word, "a collective");
    if (trn_coll_has_counts(request.op)) refuse(fmt::format("programs cannot start {}", word));
    if (request.op != TRN_COLL_BARRIER) {
        std::string arrow;
        if (!(words >> made.send >> arrow >> made.receive) || arrow != "->")
            refuse(fmt::format("{} needs two tensors: {} product -> sum S[30]", word, word));
    }
    while (words >> word) {
        const auto equals = word.find('=');
        if (is_semaphore(word))
            request.done = {.core = 0,
                            .index = number(std::string_view(word).substr(2, word.size() - 3),
                                            "a semaphore", TRN_SEMAPHORES - 1)};
        else if (equals != word.npos)
            read_option(request, std::string_view(word).substr(0, equals),
                        std::string_view(word).substr(equals + 1));
        else
            refuse(
                fmt::format("'{}' is neither a semaphore, S[30], nor an option, channels=1", word));
    }
    if (!request.done) refuse("a collective names the semaphore that it adds to at its end: S[30]");
    if (request.channels == 0) refuse("a collective has at least one channel");
    if (!trn_coll_has_algorithm(request.op, request.algorithm))
        refuse(fmt::format("{} has no algorithm {}", trn_coll_op_text(request.op),
                           trn_coll_algorithm_text(request.algorithm)));
    return made;
}

void program_collectives::load(std::span<const loaded_program* const> programs) try {
    if (wanted_.size() > TRN_CC_SLOTS)
        refuse_argument("a program can have {} collectives, not {}", TRN_CC_SLOTS, wanted_.size());
    const auto core = trn_program_device_core(programs.front()->get(), 0);
    for (const program_collective& wanted : wanted_) {
        collective_request request = wanted.request;
        request.slot = loaded_;
        request.core = core;
        request.done->core = core;
        request.in_place = !wanted.send.empty() && wanted.send == wanted.receive;
        std::vector<collective_group::own_buffers> buffers(programs.size());
        for (std::size_t rank = 0; rank < programs.size() && !wanted.send.empty(); ++rank) {
            const trn_tensor source = programs[rank]->find(wanted.send),
                             destination = programs[rank]->find(wanted.receive);
            if (source.type != destination.type)
                refuse_argument("{} from {} to {}: the types {} and {} differ",
                                trn_coll_op_text(request.op), source.name, destination.name,
                                trn_tensor_type_name(source.type),
                                trn_tensor_type_name(destination.type));
            request.type = static_cast<trn_element>(source.type);
            request.bytes = std::max(source.bytes, destination.bytes);
            buffers[rank] = {source.address, source.bytes, destination.address, destination.bytes};
        }
        group_.arm(request, buffers);
        ++loaded_;
    }
} catch (...) {
    unload();
    throw;
}

std::string program_collectives::failure() {
    for (std::uint32_t slot = 0; slot < loaded_; ++slot)
        if (const auto why = group_.failure(slot); !why.empty()) return why;
    return "";
}

void program_collectives::unload() {
    while (loaded_ != 0) group_.disarm(--loaded_);
}

}  // namespace trn
