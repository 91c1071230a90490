// SPDX-License-Identifier: Apache-2.0
#include "platform/app/library/function.h"

#include <fmt/format.h>

#include <utility>

#include "platform/app/library/failure.h"
#include "platform/app/library/simulation.h"

namespace trn::library {

namespace {

using sc_core::sc_time;

/// Of the host, as of the in-process host (platform/app/in_process).
sc_time read_cost() {
    return {200, sc_core::SC_NS};
}
sc_time write_cost() {
    return {20, sc_core::SC_NS};
}
/// If the server has no memory. Address space is reserved; pages are allocated when first written.
constexpr std::uint64_t host_memory_bytes = std::uint64_t{64} << 30;

template <class T>
std::span<std::uint8_t> bytes_of(T& value) {
    return {reinterpret_cast<std::uint8_t*>(&value), sizeof value};
}

}  // namespace

function::function(simulation& time, std::string name, function_port& port)
    : time_(time), name_(std::move(name)), port_(port) {
    port_.await_accesses(this);
}

function::~function() {
    for (std::uint32_t vector = 0; vector < vectors(); ++vector) port_.on_interrupt(vector, {});
    port_.await_accesses(nullptr);
}

std::uint64_t function::bar_size(std::uint32_t bar) const {
    return bar < function_port::bar_count ? port_.bar(bar).size : 0;
}

std::uint64_t function::bar_address(std::uint32_t bar) const {
    if (bar_size(bar) == 0) wrong_argument(fmt::format("{} has no BAR{}", name_, bar));
    const auto address = port_.bar(bar).bus_address;
    if (address == 0)
        throw failure(TRNVP_NOT_FOUND, fmt::format("BAR{} of {} has no address", bar, name_));
    return address;
}

void function::check_bar(std::uint32_t bar, std::uint64_t offset, std::uint64_t size) const {
    const auto whole = bar_size(bar);
    if (whole == 0) wrong_argument(fmt::format("{} has no BAR{}", name_, bar));
    if (size == 0) wrong_argument("an access of 0 bytes");
    if (offset > whole || size > whole - offset)
        wrong_argument(
            fmt::format("{} bytes at {:#x} are outside of BAR{} of {}, which has {:#x} bytes", size,
                        offset, bar, name_, whole));
}

void function::check_config(std::uint32_t offset, std::uint32_t width) const {
    if (width != 1 && width != 2 && width != 4)
        wrong_argument(fmt::format("width: {} is not 1, 2 or 4", width));
    if (offset >= function_port::config_size || offset % width != 0)
        wrong_argument(fmt::format("offset: {:#x} is not a multiple of {} below {:#x}", offset,
                                   width, function_port::config_size));
}

/// The device annotates its delay, the host adds its cost, and time advances by both.
template <class Access>
void function::access(const sc_time& cost, const Access& perform) {
    time_.check_can_advance();
    sc_time delay = cost;
    perform(delay);
    if (waits_) {
        try {
            while (waits_) time_.pass_until([this] { return !waits_; });
        } catch (...) {
            port_.await_accesses(this);  // ends it: the caller's bytes may be gone
            throw;
        }
        delay = rest_;
    }
    time_.pass(delay);
}

void function::ended(const sc_time& delay) {
    waits_ = false;
    rest_ = delay;
    time_.wake();
}

void function::bar_read(std::uint32_t bar, std::uint64_t offset, std::span<std::uint8_t> bytes) {
    check_bar(bar, offset, bytes.size());
    access(read_cost(), [&](auto& delay) { port_.bar_read(bar, offset, bytes, delay); });
}

void function::bar_write(std::uint32_t bar, std::uint64_t offset,
                         std::span<const std::uint8_t> bytes) {
    check_bar(bar, offset, bytes.size());
    access(write_cost(), [&](auto& delay) { port_.bar_write(bar, offset, bytes, delay); });
}

std::uint32_t function::config_read(std::uint32_t offset, std::uint32_t width) {
    check_config(offset, width);
    std::uint32_t value = 0;
    access(read_cost(), [&](auto&) { port_.config_read(offset, bytes_of(value).first(width)); });
    return value;
}

void function::config_write(std::uint32_t offset, std::uint32_t width, std::uint32_t value) {
    check_config(offset, width);
    access(write_cost(), [&](auto&) { port_.config_write(offset, bytes_of(value).first(width)); });
}

// --- Memory of the host

server_memory& function::memory() {
    if (memory_ != nullptr) return *memory_;
    auto* chosen = port_.memory_of_server();
    if (chosen == nullptr) {
        own_memory_ = std::make_unique<server_memory>(host_memory_bytes);
        chosen = own_memory_.get();
    }
    if (!port_.map_host({server_memory::base, chosen->size(), chosen->data(), true, true}))
        throw failure(TRNVP_REFUSED,
                      fmt::format("trnvp_map_host() has given {} memory at {:#x}, where that of "
                                  "trnvp_host_alloc() is",
                                  name_, server_memory::base));
    memory_ = chosen;
    return *memory_;
}

function::host_bytes function::allocate(std::uint64_t size) {
    if (size == 0) wrong_argument("an allocation of 0 bytes");
    auto& all = memory();
    const auto offset = all.allocate(size);
    if (!offset)
        throw failure(TRNVP_OUT_OF_MEMORY,
                      fmt::format("the host has no {} bytes left, of {}", size, all.size()));
    return {all.data() + *offset, server_memory::base + *offset};
}

void function::free(std::uint64_t iova, std::uint64_t size) {
    if (memory_ != nullptr) memory_->free(iova - server_memory::base, size);
}

void function::map(std::uint64_t iova, std::uint8_t* bytes, std::uint64_t size) {
    if (!port_.map_host({iova, size, bytes, true, true}))
        throw failure(TRNVP_REFUSED,
                      fmt::format("{} bytes at {:#x}: empty, wrapping, or overlapping mapped ones",
                                  size, iova));
}

void function::unmap(std::uint64_t iova, std::uint64_t size) {
    if (memory_ != nullptr && iova < server_memory::base + memory_->size() &&
        (iova >= server_memory::base || size > server_memory::base - iova))
        throw failure(
            TRNVP_REFUSED,
            fmt::format("{} bytes at {:#x} overlap the memory of trnvp_host_alloc()", size, iova));
    if (!port_.unmap_host(iova, size, [](const auto&) {}))
        throw failure(TRNVP_REFUSED,
                      fmt::format("{} bytes at {:#x} would cut a mapped range", size, iova));
}

// --- Interrupts

std::uint32_t function::vectors() const {
    return port_.interrupt_vectors();
}

void function::on_interrupt(std::uint32_t vector, std::function<void()> raised) {
    if (vector >= vectors())
        wrong_argument(
            fmt::format("vector: {} is not below {}, the number of {}", vector, vectors(), name_));
    if (!raised) return port_.on_interrupt(vector, {});
    port_.on_interrupt(
        vector, [this, raised = std::move(raised)] { time_.calls()("an interrupt", raised); });
}

void function::reset() {
    time_.check_can_advance();
    port_.reset();
}

}  // namespace trn::library
