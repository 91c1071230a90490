// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/rtl/axi_initiator.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "platform/framework/bridges/reports.h"
#include "platform/framework/kernel/time_value.h"

namespace trn::rtl {

using sc_core::sc_time_stamp;

axi_initiator::axi_initiator(block& owner, const char* name, const std::string& prefix,
                             const settings& options)
    : initiator(initiator::kind::dma),
      out(name),
      owner_(owner),
      options_(options),
      stalls_(out.name(), options.stall_percent),
      writes_(find_channel(prefix + "aw")),
      reads_(find_channel(prefix + "ar")),
      write_data_ready_(owner.input(prefix + "wready", 1)),
      write_response_valid_(owner.input(prefix + "bvalid", 1)),
      write_response_(owner.input(prefix + "bresp", 2)),
      write_id_(owner.optional_input(prefix + "bid")),
      read_data_valid_(owner.input(prefix + "rvalid", 1)),
      read_data_(owner.input(prefix + "rdata")),
      read_response_(owner.input(prefix + "rresp", 2)),
      read_last_(owner.optional_input(prefix + "rlast")),
      read_id_(owner.optional_input(prefix + "rid")),
      write_data_valid_(owner.output(prefix + "wvalid", 1)),
      write_data_(owner.output(prefix + "wdata", read_data_.bits())),
      strobe_(owner.output(prefix + "wstrb", read_data_.bytes())),
      write_last_(owner.optional_output(prefix + "wlast")),
      write_response_ready_(owner.output(prefix + "bready", 1)),
      read_data_ready_(owner.output(prefix + "rready", 1)),
      bus_bytes_(read_data_.bytes()),
      answers_(owner) {
    owner.join(*this);
    out.bind(*this);
}

axi_initiator::address_channel axi_initiator::find_channel(const std::string& prefix) {
    return {.ready = owner_.input(prefix + "ready", 1),
            .valid = owner_.output(prefix + "valid", 1),
            .address = owner_.output(prefix + "addr"),
            .id = owner_.optional_output(prefix + "id", 32),
            .length = owner_.optional_output(prefix + "len", 8),
            .size = owner_.optional_output(prefix + "size", 3),
            .kind = owner_.optional_output(prefix + "burst", 2)};
}

/// An access of AXI4-Lite is a word of the bus, whatever the lowest bits of its address (B1.1).
axi_burst axi_initiator::burst_of(const address_channel& channel) const {
    const bool is_lite = !channel.length.is_connected() && !channel.size.is_connected();
    const std::uint64_t address = channel.address.get();
    return {.address = is_lite ? address - address % bus_bytes_ : address,
            .id = static_cast<unsigned>(channel.id.get()),
            .beats = static_cast<unsigned>(channel.length.get()) + 1,
            .beat_bytes = channel.size.is_connected() ? 1u << channel.size.get() : bus_bytes_,
            .type = channel.kind.is_connected() ? static_cast<axi_burst::kind>(channel.kind.get())
                                                : axi_burst::kind::incrementing};
}

// --- Handshakes

void axi_initiator::sample() {
    const bool waits_for_data = has_writable() && !write_data_valid_.is_high();
    const bool waits_for_read = shown_read_ != nullptr && !read_data_ready_.is_high();
    const bool waits_for_write = shown_write_ != nullptr && !write_response_ready_.is_high();
    const bool waits = waits_for_data || waits_for_read || waits_for_write;
    waited_ = waits && !is_memory_busy() ? waited_ + 1 : 0;
    if (waited_ > owner_.settings().time_out)
        return owner_.hang(fmt::format("no {} within {} cycles ({})",
                                       waits_for_read    ? "RREADY"
                                       : waits_for_write ? "BREADY"
                                                         : "WVALID",
                                       owner_.settings().time_out, out.name()));
    if (reads_.valid.is_high() && reads_.ready.is_high()) accept(reads_, open_reads_, "read");
    if (writes_.valid.is_high() && writes_.ready.is_high()) accept(writes_, open_writes_, "write");
    if (write_data_valid_.is_high() && write_data_ready_.is_high()) take_beat();
    if (shown_read_ != nullptr && read_data_ready_.is_high() &&
        ++shown_read_->beat == shown_read_->burst.beats)
        erase(open_reads_, std::exchange(shown_read_, nullptr));
    if (shown_write_ != nullptr && write_response_ready_.is_high())
        erase(open_writes_, std::exchange(shown_write_, nullptr));
}

void axi_initiator::accept(const address_channel& channel, transactions& open,
                           const char* direction) {
    auto added = std::make_unique<transaction>(burst_of(channel), answers_.event());
    if (const std::string mistake = added->burst.mistake(bus_bytes_); !mistake.empty()) {
        added->is_refused = true;
        owner_.report_protocol(fmt::format("{}: the design begins {} at {:#x}: the {} gets SLVERR",
                                           out.name(), mistake, added->burst.address, direction));
    } else {
        added->access.bytes.resize(added->burst.bytes());
    }
    open.push_back(std::move(added));
}

/// Data is for the oldest write without all of its beats.
void axi_initiator::take_beat() {
    const auto place = std::ranges::find_if(
        open_writes_, [](const auto& each) { return each->beat < each->burst.beats; });
    transaction& write = **place;
    const unsigned beat = write.beat++;
    const bool is_last = write.beat == write.burst.beats;
    if (write_last_.is_connected() && write_last_.is_high() != is_last)
        return owner_.hang(fmt::format(
            "WLAST is {} in beat {} of a write of {} beats at {:#x} ({})", is_last ? "low" : "high",
            beat + 1, write.burst.beats, write.burst.address, out.name()));
    if (write.is_refused) return;
    std::vector<std::uint8_t> lanes(bus_bytes_);
    write_data_.read(lanes);
    std::vector<std::uint8_t> strobes((bus_bytes_ + 7) / 8);
    strobe_.read(strobes);
    const auto lane = static_cast<unsigned>(write.burst.address_of(beat) % bus_bytes_);
    const unsigned offset = write.burst.offset_of(beat);
    for (unsigned n = 0; n < write.burst.bytes_of(beat); ++n) {
        write.access.bytes[offset + n] = lanes[lane + n];
        if ((strobes[(lane + n) / 8] >> (lane + n) % 8 & 1) != 0) continue;
        write.access.enables.resize(write.access.bytes.size(), TLM_BYTE_ENABLED);
        write.access.enables[offset + n] = TLM_BYTE_DISABLED;
    }
}

// --- Accesses

void axi_initiator::send(transaction& next, tlm::tlm_command command) {
    const acting source(*this);
    next.is_sent = true;
    const unsigned width =
        next.burst.type == axi_burst::kind::fixed ? next.burst.bytes_of(0) : next.burst.bytes();
    next.access.send(out, command, next.burst.first(), width);
}

void axi_initiator::repeat_deferred(transactions& all) {
    const acting source(*this);
    for (const auto& each : all)
        if (each->is_sent && each->access.is_deferred()) each->access.repeat(out);
}

std::uint64_t axi_initiator::response_of(const transaction& ended) const {
    if (ended.is_refused) return axi_target_error;
    switch (ended.access.response()) {
    case tlm::TLM_OK_RESPONSE:
        return axi_okay;
    case tlm::TLM_ADDRESS_ERROR_RESPONSE:
        return axi_decode_error;
    default:
        return axi_target_error;
    }
}

/// The first whose response is due, and that is not behind another one of its ID.
axi_initiator::transaction* axi_initiator::ready_one(transactions& all) const {
    for (auto place = all.begin(); place != all.end(); ++place) {
        transaction& each = **place;
        const bool is_ended =
            each.is_sent && !each.access.is_deferred() && each.access.end() <= sc_time_stamp();
        if (!is_ended) continue;
        const bool is_behind = std::any_of(all.begin(), place, [&](const auto& earlier) {
            return earlier->burst.id == each.burst.id;
        });
        if (!is_behind) return &each;
    }
    return nullptr;
}

void axi_initiator::erase(transactions& all, const transaction* ended) {
    std::erase_if(all, [ended](const auto& each) { return each.get() == ended; });
}

/// What the design does next may need an answer of memory.
bool axi_initiator::is_memory_busy() const {
    return std::ranges::any_of(open_reads_, &is_at_memory) ||
           std::ranges::any_of(open_writes_, &is_at_memory);
}

bool axi_initiator::is_at_memory(const std::unique_ptr<transaction>& each) {
    return each->is_sent && (each->access.is_deferred() || each->access.end() > sc_time_stamp());
}

bool axi_initiator::has_writable() const {
    return std::ranges::any_of(open_writes_,
                               [](const auto& each) { return each->beat < each->burst.beats; });
}

// --- Inputs of the design

void axi_initiator::drive() {
    if (answers_.take()) {
        repeat_deferred(open_reads_);
        repeat_deferred(open_writes_);
    }
    for (const auto& each : open_reads_)
        if (!each->is_sent) {
            if (each->is_refused)
                each->is_sent = true;
            else
                send(*each, tlm::TLM_READ_COMMAND);
        }
    for (const auto& each : open_writes_)
        if (!each->is_sent && each->beat == each->burst.beats) {
            if (each->is_refused)
                each->is_sent = true;
            else
                send(*each, tlm::TLM_WRITE_COMMAND);
        }
    drive_read();
    drive_write_response();
    reads_.ready.set(open_reads_.size() < options_.outstanding && !stalls_.next());
    writes_.ready.set(open_writes_.size() < options_.outstanding && !stalls_.next());
    write_data_ready_.set(has_writable() && !stalls_.next());
}

void axi_initiator::drive_read() {
    if (shown_read_ == nullptr) shown_read_ = ready_one(open_reads_);
    read_data_valid_.set(shown_read_ != nullptr);
    if (shown_read_ == nullptr) return;
    const axi_burst& burst = shown_read_->burst;
    const unsigned beat = shown_read_->beat;
    if (!shown_read_->is_refused) {
        std::vector<std::uint8_t> lanes(bus_bytes_);
        std::memcpy(lanes.data() + burst.address_of(beat) % bus_bytes_,
                    shown_read_->access.bytes.data() + burst.offset_of(beat), burst.bytes_of(beat));
        read_data_.write(lanes);
    }
    read_response_.set(response_of(*shown_read_));
    read_last_.set(beat + 1 == burst.beats);
    read_id_.set(burst.id);
}

void axi_initiator::drive_write_response() {
    if (shown_write_ == nullptr) shown_write_ = ready_one(open_writes_);
    write_response_valid_.set(shown_write_ != nullptr);
    if (shown_write_ == nullptr) return;
    write_response_.set(response_of(*shown_write_));
    write_id_.set(shown_write_->burst.id);
}

void axi_initiator::reset() {
    shown_read_ = shown_write_ = nullptr;
    open_reads_.clear();
    open_writes_.clear();
    answers_.take();
    waited_ = 0;
    read_data_valid_.set(0);
    write_response_valid_.set(0);
    write_data_ready_.set(0);
    reads_.ready.set(0);
    writes_.ready.set(0);
}

/// While memory works on all that is open, nothing moves.
bool axi_initiator::is_idle() const {
    if (answers_.are_waiting() || shown_read_ != nullptr || shown_write_ != nullptr) return false;
    if (has_writable() || reads_.valid.is_high() || writes_.valid.is_high()) return false;
    return std::ranges::all_of(open_reads_, &is_at_memory) &&
           std::ranges::all_of(open_writes_, &is_at_memory);
}

std::optional<sc_core::sc_time> axi_initiator::due() const {
    std::optional<sc_core::sc_time> first;
    for (const transactions* all : {&open_reads_, &open_writes_})
        for (const auto& each : *all)
            if (each->is_sent && !each->access.is_deferred() &&
                (!first || each->access.end() < *first))
                first = each->access.end();
    if (first) *first -= time_of_value(1);  // an edge at the end is late enough
    return first;
}

std::optional<std::string> axi_initiator::describe_wait() const {
    for (const transactions* all : {&open_reads_, &open_writes_})
        for (const auto& each : *all)
            if (each->is_sent && each->access.is_deferred())
                return fmt::format("{}: a {} waits for memory", out.name(),
                                   bridge_report::describe(each->access.payload()));
    return std::nullopt;
}

}  // namespace trn::rtl
