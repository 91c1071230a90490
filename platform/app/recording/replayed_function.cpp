// SPDX-License-Identifier: Apache-2.0
#include "platform/app/recording/replayed_function.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "platform/framework/kernel/time_value.h"

namespace trn::recording {

using sc_core::sc_time;

namespace {

/// Bytes as a number if they have the size of one, else at most 16 bytes in hexadecimal.
std::string shown(std::span<const std::uint8_t> bytes) {
    if (bytes.size() == 2 || bytes.size() == 4 || bytes.size() == 8) {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes.data(), bytes.size());
        return fmt::format("{:#0{}x}", value, 2 + 2 * bytes.size());
    }
    std::string text;
    for (const auto byte : bytes.first(std::min<std::size_t>(bytes.size(), 16)))
        text += fmt::format("{:02x}", byte);
    return bytes.empty() ? "nothing" : text + (bytes.size() > 16 ? "..." : "");
}

/// Both texts, around the first byte that differs.
std::pair<std::string, std::string> shown_where_they_differ(std::span<const std::uint8_t> a,
                                                            std::span<const std::uint8_t> b) {
    if (a.size() != b.size()) return {shown(a), shown(b)};
    const auto difference = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
    const auto first = difference / 16 * 16;
    const auto prefix = first == 0 ? std::string() : fmt::format("+{:#x}: ", first);
    return {prefix + shown(a.subspan(first)), prefix + shown(b.subspan(first))};
}

std::string place(const event& e) {
    switch (e.type) {
    case kind::inspect_bar:
        return fmt::format("BAR{}", e.index);
    case kind::bar_read:
    case kind::bar_write:
        return fmt::format("{} of {} bytes at BAR{} {:#x}", to_string(e.type), e.size, e.index,
                           e.address);
    case kind::set_vector:
    case kind::raised:
        return fmt::format("{} {}", to_string(e.type), e.index);
    default:
        return fmt::format("{} of {} bytes at {:#x}", to_string(e.type), e.size, e.address);
    }
}

}  // namespace

class replayed_function::memory {
public:
    explicit memory(std::uint64_t size) : size_(size) {
        base_ = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base_ == MAP_FAILED)
            throw recording_error(fmt::format(
                "the recorded host shares {:#x} bytes of memory, more than can be reserved here",
                size));
    }
    ~memory() { munmap(base_, size_); }
    memory(const memory&) = delete;
    memory& operator=(const memory&) = delete;

    std::uint64_t size() const { return size_; }
    std::uint8_t* bytes() const { return static_cast<std::uint8_t*>(base_); }

private:
    std::uint64_t size_;
    void* base_;
};

replayed_function::replayed_function(event_matcher& events, std::uint32_t number, std::string name,
                                     function_port& function)
    : events_(events), number_(number), name_(std::move(name)), function_(function) {
    function_.watch_host_memory(this);
    function_.await_accesses(this);
}

replayed_function::~replayed_function() {
    function_.watch_host_memory(nullptr);
    function_.await_accesses(nullptr);
    function_.detach();
    function_.carry_host_messages(nullptr);
    for (const auto& [iova, range] : ranges_)
        function_.unmap_host(iova, range->size(), [](auto&) {});
}

// --- Calls of the host

void replayed_function::repeat(const event& e) {
    switch (e.type) {
    case kind::inspect_bar:
        if (function_.bar(e.index).size != e.size)
            events_.differs(fmt::format("{}: BAR{} has another size", name_, e.index));
        break;
    case kind::config_read:
        read_config(e);
        break;
    case kind::config_write:
        function_.config_write(static_cast<std::uint32_t>(e.address), e.bytes);
        break;
    case kind::bar_read:
    case kind::bar_write:
        access_bar(e);
        break;
    case kind::map:
        map(e);
        break;
    case kind::unmap:
        unmap(e);
        break;
    case kind::carry:
        if (!e.flag) questions_.clear();
        function_.carry_host_messages(e.flag ? this : nullptr);
        break;
    case kind::answer:
        answer_question(e);
        break;
    case kind::messages_room:
        function_.host_messages_ready();
        break;
    case kind::set_vector:
        set_vector(e);
        break;
    case kind::join:
        function_.join(e.address);
        break;
    case kind::reset:
        function_.reset();
        break;
    case kind::detach:
        function_.detach();
        break;
    default:
        break;
    }
}

void replayed_function::compare(const event& e, bool flag) {
    if (flag != e.flag)
        events_.differs(fmt::format("{}: {}: recorded as {}, now {}", name_, place(e),
                                    e.flag ? "done" : "refused", flag ? "done" : "refused"));
}

void replayed_function::compare(const event& e, std::span<const std::uint8_t> bytes) {
    if (std::ranges::equal(e.bytes, bytes)) return;
    const bool digest = e.size > max_kept && e.bytes.size() == 8;
    const auto [was, is] = shown_where_they_differ(e.bytes, bytes);
    events_.differs(fmt::format("{}: {}: recorded {}{}, now {}", name_, place(e),
                                digest ? "digest " : "", was, is));
}

void replayed_function::read_config(const event& e) {
    std::vector<std::uint8_t> bytes(e.bytes.size());
    function_.config_read(static_cast<std::uint32_t>(e.address), bytes);
    compare(e, bytes);
}

void replayed_function::access_bar(const event& e) {
    sc_time delay;
    std::vector<std::uint8_t> bytes(e.type == kind::bar_read ? e.size : 0);
    if (e.type == kind::bar_read)
        compare(e, function_.bar_read(e.index, e.address, bytes, delay));
    else
        compare(e, function_.bar_write(e.index, e.address, e.bytes, delay));
    if (std::exchange(deferred_, false)) {
        access_ = {.type = kind::access_ended,
                   .function = number_,
                   .index = e.index,
                   .address = e.address,
                   .size = e.size};
        read_ = std::move(bytes);  // its buffer stays
    }
    if (e.type == kind::bar_read) compare(e, kept(bytes));
    compare(e, delay);
}

void replayed_function::ended(const sc_time& delay) {
    const auto was = events_.expect(access_);
    if (!was) return;
    compare(*was, kept(read_));
    compare(*was, delay);
}

void replayed_function::compare(const event& e, const sc_time& delay) {
    if (events_.same() && in_picoseconds(delay) != e.delay)
        events_.differs(fmt::format("{}: {}: recorded as taking {} ps, now {} ps", name_, place(e),
                                    e.delay, in_picoseconds(delay)));
}

void replayed_function::map(const event& e) {
    std::unique_ptr<memory> bytes;
    if (e.flag && (e.index & access::has_bytes) != 0) bytes = std::make_unique<memory>(e.size);
    const bool done = function_.map_host({.iova = e.address,
                                          .size = e.size,
                                          .bytes = bytes == nullptr ? nullptr : bytes->bytes(),
                                          .readable = (e.index & access::readable) != 0,
                                          .writable = (e.index & access::writable) != 0});
    compare(e, done);
    if (done && bytes != nullptr) ranges_[e.address] = std::move(bytes);
}

void replayed_function::unmap(const event& e) {
    compare(e, function_.unmap_host(e.address, e.size,
                                    [this](const host_range& gone) { ranges_.erase(gone.iova); }));
}

void replayed_function::set_vector(const event& e) {
    if (!e.flag) return function_.on_interrupt(e.index, {});
    function_.on_interrupt(e.index, [this, vector = e.index] {
        events_.expect({.type = kind::raised, .function = number_, .index = vector});
    });
}

void replayed_function::answer_question(const event& e) {
    const auto asked = questions_.extract(e.index);
    if (asked.empty())
        return events_.differs(fmt::format("{}: question {} was not asked", name_, e.index));
    asked.mapped()(e.bytes);
}

// --- Accesses of the function

void replayed_function::has_read(std::uint64_t address, std::span<std::uint8_t> bytes) {
    const auto was = events_.expect(
        {.type = kind::has_read, .function = number_, .address = address, .size = bytes.size()});
    if (!was) return;  // nothing was recorded: the memory keeps its content
    std::ranges::copy(was->bytes, bytes.begin());
    remember(address, bytes);
}

void replayed_function::has_written(std::uint64_t address, std::span<const std::uint8_t> bytes) {
    const auto was = events_.expect(
        {.type = kind::has_written, .function = number_, .address = address, .size = bytes.size()});
    if (was) compare(*was, kept(bytes));
}

bool replayed_function::read(std::uint64_t iova, std::uint32_t size, answer answered) {
    const auto was = events_.expect(
        {.type = kind::question, .function = number_, .address = iova, .size = size});
    if (!was || !was->flag) return false;
    questions_[was->index] = std::move(answered);
    return true;
}

bool replayed_function::write(std::uint64_t iova, std::span<const std::uint8_t> bytes) {
    const auto was = events_.expect(
        {.type = kind::post, .function = number_, .address = iova, .size = bytes.size()});
    if (was) compare(*was, kept(bytes));
    return was ? was->flag : true;
}

/// The bytes may span several adjacent ranges.
void replayed_function::remember(std::uint64_t address, std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const auto after = ranges_.upper_bound(address);
        if (after == ranges_.begin()) return;
        const auto& [iova, range] = *std::prev(after);
        if (address - iova >= range->size()) return;
        const auto here = std::min<std::uint64_t>(bytes.size(), range->size() - (address - iova));
        std::memcpy(range->bytes() + (address - iova), bytes.data(), here);
        bytes = bytes.subspan(here);
        address += here;
    }
}

}  // namespace trn::recording
