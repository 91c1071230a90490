// SPDX-License-Identifier: Apache-2.0
#include "platform/app/recording/recorded_function.h"

#include <utility>

#include "platform/framework/kernel/time_value.h"

namespace trn::recording {

using sc_core::sc_time;

recorded_function::recorded_function(event_recorder& events, std::uint32_t number,
                                     function_port& function)
    : events_(events), number_(number), function_(function) {
    function_.watch_host_memory(this);
}

recorded_function::~recorded_function() {
    function_.watch_host_memory(nullptr);
}

void recorded_function::note(event e, std::span<const std::uint8_t> bytes) {
    e.function = number_;
    events_.note(std::move(e), bytes);
}

// --- Calls of the host

void recorded_function::join(std::uint64_t host) {
    function_.join(host);
    note({.type = kind::join, .address = host});
}

function_port::bar_info recorded_function::bar(unsigned index) {
    bar_info seen = function_.bar(index);
    seen.descriptor = -1;
    seen.areas.clear();
    note({.type = kind::inspect_bar, .index = index, .size = seen.size});
    return seen;
}

void recorded_function::config_read(std::uint32_t offset, std::span<std::uint8_t> bytes) {
    function_.config_read(offset, bytes);
    note({.type = kind::config_read, .address = offset, .size = bytes.size()}, bytes);
}

void recorded_function::config_write(std::uint32_t offset, std::span<const std::uint8_t> bytes) {
    function_.config_write(offset, bytes);
    note({.type = kind::config_write, .address = offset, .size = bytes.size()}, bytes);
}

bool recorded_function::bar_read(unsigned index, std::uint64_t offset,
                                 std::span<std::uint8_t> bytes, sc_time& delay) {
    sc_time took;
    const bool done = function_.bar_read(index, offset, bytes, took);
    delay += took;
    const event read{.type = kind::bar_read,
                     .flag = done,
                     .index = index,
                     .address = offset,
                     .size = bytes.size(),
                     .delay = in_picoseconds(took)};
    if (std::exchange(deferred_, false)) {  // without bytes yet
        note(read);
        await_end(read, bytes);
    } else {
        note(read, kept(bytes));
    }
    return done;
}

bool recorded_function::bar_write(unsigned index, std::uint64_t offset,
                                  std::span<const std::uint8_t> bytes, sc_time& delay) {
    sc_time took;
    const bool done = function_.bar_write(index, offset, bytes, took);
    delay += took;
    const event write{.type = kind::bar_write,
                      .flag = done,
                      .index = index,
                      .address = offset,
                      .size = bytes.size(),
                      .delay = in_picoseconds(took)};
    note(write, bytes);
    if (std::exchange(deferred_, false)) await_end(write, {});
    return done;
}

void recorded_function::await_accesses(access_waiter* waiter) {
    waiter_ = waiter;
    function_.await_accesses(waiter == nullptr ? nullptr : this);
}

void recorded_function::deferred() {
    deferred_ = true;
    waiter_->deferred();
}

void recorded_function::await_end(const event& access, std::span<const std::uint8_t> read) {
    access_ = access;
    access_.type = kind::access_ended;
    read_ = read;
}

void recorded_function::ended(const sc_time& delay) {
    access_.delay = in_picoseconds(delay);
    note(access_, kept(read_));
    waiter_->ended(delay);
}

bool recorded_function::map_host(const host_range& range) {
    const bool done = function_.map_host(range);
    const std::uint32_t rights = (range.readable ? access::readable : 0) |
                                 (range.writable ? access::writable : 0) |
                                 (range.bytes != nullptr ? access::has_bytes : 0);
    note({.type = kind::map,
          .flag = done,
          .index = rights,
          .address = range.iova,
          .size = range.size});
    return done;
}

bool recorded_function::unmap_host(std::uint64_t iova, std::uint64_t size,
                                   const std::function<void(const host_range&)>& forgotten) {
    const bool done = function_.unmap_host(iova, size, forgotten);
    note({.type = kind::unmap, .flag = done, .address = iova, .size = size});
    return done;
}

void recorded_function::carry_host_messages(host_messages* carrier) {
    carrier_ = carrier;
    function_.carry_host_messages(carrier == nullptr ? nullptr : this);
    note({.type = kind::carry, .flag = carrier != nullptr});
}

void recorded_function::host_messages_ready() {
    function_.host_messages_ready();
    note({.type = kind::messages_room});
}

void recorded_function::on_interrupt(unsigned vector, std::function<void()> raised) {
    const bool enables = static_cast<bool>(raised);
    function_.on_interrupt(
        vector, !enables ? raised : [this, vector, raised] {
            note({.type = kind::raised, .index = vector});
            raised();
        });
    note({.type = kind::set_vector, .flag = enables, .index = vector});
}

void recorded_function::reset() {
    function_.reset();
    note({.type = kind::reset});
}

void recorded_function::detach() {
    function_.detach();
    note({.type = kind::detach});
}

// --- Accesses of the function

void recorded_function::has_read(std::uint64_t address, std::span<std::uint8_t> bytes) {
    note({.type = kind::has_read, .address = address, .size = bytes.size()}, bytes);
}

void recorded_function::has_written(std::uint64_t address, std::span<const std::uint8_t> bytes) {
    note({.type = kind::has_written, .address = address, .size = bytes.size()}, kept(bytes));
}

bool recorded_function::read(std::uint64_t iova, std::uint32_t size, answer answered) {
    const std::uint64_t number = questions_;
    const bool accepted =
        carrier_->read(iova, size, [this, number, answered](std::span<const std::uint8_t> bytes) {
            answered(bytes);
            note({.type = kind::answer, .index = static_cast<std::uint32_t>(number)}, bytes);
        });
    if (accepted) ++questions_;
    note({.type = kind::question,
          .flag = accepted,
          .index = static_cast<std::uint32_t>(number),
          .address = iova,
          .size = size});
    return accepted;
}

bool recorded_function::write(std::uint64_t iova, std::span<const std::uint8_t> bytes) {
    const bool accepted = carrier_->write(iova, bytes);
    note({.type = kind::post, .flag = accepted, .address = iova, .size = bytes.size()},
         kept(bytes));
    return accepted;
}

}  // namespace trn::recording
