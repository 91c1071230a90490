// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/rtl/axi_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "platform/framework/bridges/reports.h"

namespace trn::rtl {

namespace {

constexpr unsigned longest_burst = 256, longest_other = 16;  // beats
constexpr unsigned modifiable = 2;  // AxCACHE: normal memory, not bufferable

}  // namespace

axi_target::axi_target(block& owner, const char* name, const std::string& prefix,
                       const settings& options)
    : bus_target(owner, name, nullptr),
      options_(options),
      stalls_(in.name(), options.stall_percent),
      writes_(find_channel(prefix + "aw")),
      reads_(find_channel(prefix + "ar")),
      write_data_valid_(owner.input(prefix + "wvalid", 1)),
      write_data_(owner.input(prefix + "wdata")),
      strobe_(owner.input(prefix + "wstrb", write_data_.bytes())),
      write_last_(owner.input(prefix + "wlast", 1)),
      write_response_ready_(owner.input(prefix + "bready", 1)),
      read_data_ready_(owner.input(prefix + "rready", 1)),
      write_data_ready_(owner.output(prefix + "wready", 1)),
      write_response_valid_(owner.output(prefix + "bvalid", 1)),
      write_response_(owner.output(prefix + "bresp", 2)),
      write_id_(owner.optional_output(prefix + "bid")),
      read_data_valid_(owner.output(prefix + "rvalid", 1)),
      read_data_(owner.output(prefix + "rdata", write_data_.bits())),
      read_response_(owner.output(prefix + "rresp", 2)),
      read_last_(owner.output(prefix + "rlast", 1)),
      read_id_(owner.optional_output(prefix + "rid")),
      bus_bytes_(write_data_.bytes()) {}

axi_target::address_channel axi_target::find_channel(const std::string& prefix) {
    return {.valid = owner_.input(prefix + "valid", 1),
            .address = owner_.input(prefix + "addr"),
            .id = owner_.optional_input(prefix + "id"),
            .length = owner_.input(prefix + "len", 8),
            .size = owner_.input(prefix + "size", 3),
            .kind = owner_.input(prefix + "burst", 2),
            .cache = owner_.optional_input(prefix + "cache"),
            .protection = owner_.optional_input(prefix + "prot"),
            .ready = owner_.output(prefix + "ready", 1)};
}

// --- Bursts

tlm::tlm_response_status axi_target::refusal(const tlm::tlm_generic_payload& payload) const {
    const unsigned width = payload.get_streaming_width();
    if (payload.get_data_length() == 0) return tlm::TLM_BURST_ERROR_RESPONSE;
    if (width >= payload.get_data_length()) return tlm::TLM_OK_RESPONSE;
    const bool is_beat = std::has_single_bit(width) && width <= bus_bytes_ &&
                         payload.get_address() % width == 0 &&
                         payload.get_data_length() % width == 0;
    return is_beat ? tlm::TLM_OK_RESPONSE : tlm::TLM_BURST_ERROR_RESPONSE;
}

std::string axi_target::describe(const tlm::tlm_generic_payload& payload) const {
    return fmt::format("a {} (AXI4)", bridge_report::describe(payload));
}

/// The longest incrementing one from `address` on. A short access is a narrow beat.
axi_burst axi_target::next_burst(std::uint64_t address, std::uint64_t left) const {
    axi_burst made{.address = address, .beat_bytes = bus_bytes_};
    if (left < bus_bytes_ && std::has_single_bit(left) && address % left == 0) {
        made.beat_bytes = static_cast<unsigned>(left);
        return made;
    }
    const std::uint64_t skew = address % bus_bytes_;
    const std::uint64_t to_page = (axi_page - address % axi_page + skew) / bus_bytes_;
    const std::uint64_t wanted = (skew + left + bus_bytes_ - 1) / bus_bytes_;
    made.beats = static_cast<unsigned>(std::min<std::uint64_t>({wanted, to_page, longest_burst}));
    return made;
}

std::vector<axi_burst> axi_target::bursts_of(const tlm::tlm_generic_payload& payload,
                                             unsigned id) const {
    std::vector<axi_burst> made;
    const unsigned length = payload.get_data_length(), width = payload.get_streaming_width();
    std::uint64_t address = payload.get_address();
    if (width < length) {
        for (unsigned left = length / width; left > 0; left -= made.back().beats)
            made.push_back(
                {address, id, std::min(left, longest_other), width, axi_burst::kind::fixed});
        return made;
    }
    if (const unsigned beats = length / bus_bytes_;
        options_.wraps && length % bus_bytes_ == 0 && beats >= 2 && beats <= longest_other &&
        std::has_single_bit(beats) && address % length == 0)
        return {{address + length / 2, id, beats, bus_bytes_, axi_burst::kind::wrapping}};
    for (std::uint64_t left = length; left > 0;) {
        made.push_back(next_burst(address, left));
        made.back().id = id;
        const std::uint64_t done = std::min<std::uint64_t>(made.back().bytes(), left);
        address += done;
        left -= done;
    }
    return made;
}

/// Position in the access of a beat's first byte.
std::uint64_t axi_target::place_of(const transaction& owner, const axi_burst& burst,
                                   unsigned beat) const {
    if (burst.type != axi_burst::kind::fixed)
        return burst.address_of(beat) - owner.access->get_address();
    const auto before = static_cast<std::uint64_t>(&burst - owner.bursts.data()) * longest_other;
    return (before + beat) * burst.beat_bytes;
}

// --- Handshakes

void axi_target::sample() {
    watch();
    if (owner_.is_hung()) return;
    if (writes_.valid.is_high() && writes_.ready.is_high())
        ++next_sender(tlm::TLM_WRITE_COMMAND)->sent;
    if (reads_.valid.is_high() && reads_.ready.is_high())
        ++next_sender(tlm::TLM_READ_COMMAND)->sent;
    if (write_data_valid_.is_high() && write_data_ready_.is_high()) {
        transaction& writer = *next_writer();
        if (++writer.beat == writer.bursts[writer.written].beats) {
            writer.beat = 0;
            ++writer.written;
        }
    }
    if (write_response_valid_.is_high() && write_response_ready_.is_high()) take_response();
    if (owner_.is_hung()) return;
    if (read_data_valid_.is_high() && read_data_ready_.is_high()) take_data();
}

/// Rules of valid and ready (A3.2.1), and time.
void axi_target::watch() {
    if (is_held_response_ && !write_response_valid_.is_high())
        return owner_.hang(fmt::format("BVALID fell before BREADY ({})", in.name()));
    if (is_held_data_ && !read_data_valid_.is_high())
        return owner_.hang(fmt::format("RVALID fell before RREADY ({})", in.name()));
    is_held_response_ = write_response_valid_.is_high() && !write_response_ready_.is_high();
    is_held_data_ = read_data_valid_.is_high() && !read_data_ready_.is_high();
    const bool moves = (writes_.valid.is_high() && writes_.ready.is_high()) ||
                       (reads_.valid.is_high() && reads_.ready.is_high()) ||
                       (write_data_valid_.is_high() && write_data_ready_.is_high()) ||
                       write_response_valid_.is_high() || read_data_valid_.is_high();
    if (moves || open_.empty())
        waited_ = 0;
    else
        is_over_time(waited_, handshake(), *open_.front()->access);
}

const char* axi_target::handshake() const {
    const transaction& first = *open_.front();
    if (first.access->is_read()) return first.sent == first.answered ? "ARREADY" : "RVALID";
    if (first.sent == first.answered) return "AWREADY";
    return first.written == first.answered ? "WREADY" : "BVALID";
}

/// The oldest of that ID that waits for an answer.
axi_target::transaction* axi_target::expecting(tlm::tlm_command command, std::uint64_t id) {
    const auto found = std::ranges::find_if(open_, [&](const auto& each) {
        return each->access->get_command() == command && each->id == id &&
               each->answered < each->sent;
    });
    return found == open_.end() ? nullptr : found->get();
}

void axi_target::take_response() {
    transaction* const write = expecting(tlm::TLM_WRITE_COMMAND, write_id_.get());
    if (write == nullptr)
        return owner_.hang(
            fmt::format("BVALID with ID {} without a write ({})", write_id_.get(), in.name()));
    if (write->written == write->answered)
        return owner_.hang(
            fmt::format("BVALID before the last beat of {}", describe(*write->access)));
    take_answer(*write, write_response_.get());
}

void axi_target::take_data() {
    transaction* const read = expecting(tlm::TLM_READ_COMMAND, read_id_.get());
    if (read == nullptr)
        return owner_.hang(
            fmt::format("RVALID with ID {} without a read ({})", read_id_.get(), in.name()));
    const axi_burst& burst = read->bursts[read->answered];
    copy_beat(*read, burst);
    const bool is_last = ++read->beat == burst.beats;
    if (read_last_.is_high() != is_last)
        return owner_.hang(fmt::format("RLAST is {} in beat {} of {} of {}",
                                       is_last ? "low" : "high", read->beat, burst.beats,
                                       describe(*read->access)));
    if (const auto response = read_response_.get(); response >= axi_target_error && !is_last)
        read->response = response == axi_decode_error ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                                                      : tlm::TLM_GENERIC_ERROR_RESPONSE;
    if (!is_last) return;
    read->beat = 0;
    take_answer(*read, read_response_.get());
}

void axi_target::copy_beat(transaction& read, const axi_burst& burst) {
    std::vector<std::uint8_t> lanes(bus_bytes_);
    read_data_.read(lanes);
    call& access = *read.access;
    const std::uint64_t place = place_of(read, burst, read.beat);
    const auto lane = burst.address_of(read.beat) % bus_bytes_;
    const unsigned char* const enables = access.get_byte_enable_ptr();
    for (unsigned n = 0; n < burst.bytes_of(read.beat) && place + n < access.get_data_length(); ++n)
        if (enables == nullptr ||
            enables[(place + n) % access.get_byte_enable_length()] == TLM_BYTE_ENABLED)
            access.get_data_ptr()[place + n] = lanes[lane + n];
}

/// Of one burst.
void axi_target::take_answer(transaction& answered, std::uint64_t response) {
    ++answered.answered;
    if (response >= axi_target_error)
        answered.response = response == axi_decode_error ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                                                         : tlm::TLM_GENERIC_ERROR_RESPONSE;
    if (answered.answered < answered.bursts.size()) return;
    finish(*answered.access, answered.response);
    std::erase_if(open_, [&](const auto& each) { return each.get() == &answered; });
}

// --- Inputs of the design

/// The oldest access with an address to send.
axi_target::transaction* axi_target::next_sender(tlm::tlm_command command) {
    const auto found = std::ranges::find_if(open_, [&](const auto& each) {
        return each->access->get_command() == command && each->sent < each->bursts.size();
    });
    return found == open_.end() ? nullptr : found->get();
}

/// Data follows the order of addresses (A5.2.2); a beat may be accepted before its address.
axi_target::transaction* axi_target::next_writer() {
    const auto found = std::ranges::find_if(open_, [&](const auto& each) {
        return each->access->is_write() && each->written < each->bursts.size();
    });
    return found == open_.end() ? nullptr : found->get();
}

void axi_target::drive() {
    while (open_.size() < options_.outstanding && has_due()) begin(*next());
    show_address(writes_, tlm::TLM_WRITE_COMMAND);
    show_address(reads_, tlm::TLM_READ_COMMAND);
    show_data();
    write_response_ready_.set(!open_.empty() && !stalls_.next());
    read_data_ready_.set(!open_.empty() && !stalls_.next());
}

bool axi_target::has_id(unsigned id) const {
    return std::ranges::any_of(open_, [id](const auto& each) { return each->id == id; });
}

void axi_target::begin(call& access) {
    const pin& ids = access.is_read() ? reads_.id : writes_.id;
    const unsigned count = ids.is_connected() ? 1u << std::min(ids.bits(), 8u) : 1;
    unsigned id = 0;
    while (id + 1 < count && has_id(id)) ++id;
    auto added = std::make_unique<transaction>();
    added->access = &access;
    added->id = id;
    added->bursts = bursts_of(access, id);
    open_.push_back(std::move(added));
}

void axi_target::show_address(address_channel& channel, tlm::tlm_command command) {
    const transaction* const sender = next_sender(command);
    channel.valid.set(sender != nullptr);
    if (sender == nullptr) return;
    const axi_burst& burst = sender->bursts[sender->sent];
    channel.address.set(burst.address);
    channel.id.set(burst.id);
    channel.length.set(burst.beats - 1);
    channel.size.set(static_cast<std::uint64_t>(std::countr_zero(burst.beat_bytes)));
    channel.kind.set(static_cast<std::uint64_t>(burst.type));
    channel.cache.set(modifiable);
}

void axi_target::show_data() {
    const transaction* const writer = next_writer();
    write_data_valid_.set(writer != nullptr);
    if (writer == nullptr) return;
    const axi_burst& burst = writer->bursts[writer->written];
    const call& access = *writer->access;
    std::vector<std::uint8_t> lanes(bus_bytes_), strobes((bus_bytes_ + 7) / 8);
    const std::uint64_t place = place_of(*writer, burst, writer->beat);
    const auto lane = burst.address_of(writer->beat) % bus_bytes_;
    const unsigned char* const enables = access.get_byte_enable_ptr();
    for (unsigned n = 0; n < burst.bytes_of(writer->beat) && place + n < access.get_data_length();
         ++n) {
        if (enables != nullptr &&
            enables[(place + n) % access.get_byte_enable_length()] != TLM_BYTE_ENABLED)
            continue;
        lanes[lane + n] = access.get_data_ptr()[place + n];
        strobes[(lane + n) / 8] |= static_cast<std::uint8_t>(1u << (lane + n) % 8);
    }
    write_data_.write(lanes);
    strobe_.write(strobes);
    write_last_.set(writer->beat + 1 == burst.beats);
}

void axi_target::reset() {
    for (pin* each : {&writes_.valid, &reads_.valid, &write_data_valid_, &write_response_ready_,
                      &read_data_ready_})
        each->set(0);
    for (const auto& each : open_) finish(*each->access, tlm::TLM_GENERIC_ERROR_RESPONSE);
    open_.clear();
    is_held_response_ = is_held_data_ = false;
    waited_ = 0;
    fail_queued();
}

/// Only while no access is under way.
bool axi_target::try_read(std::uint64_t address, std::uint8_t* bytes, unsigned length) {
    if (!open_.empty()) return false;
    std::uint64_t budget = owner_.settings().time_out;
    const auto answers = [&](const pin& handshake) {
        for (; budget > 0; --budget, owner_.cycle())
            if (handshake.is_high()) return true;
        return false;
    };
    for (unsigned done = 0; done < length;) {
        const axi_burst burst = next_burst(address + done, length - done);
        reads_.valid.set(1);
        reads_.address.set(burst.address);
        reads_.id.set(0);
        reads_.length.set(burst.beats - 1);
        reads_.size.set(static_cast<std::uint64_t>(std::countr_zero(burst.beat_bytes)));
        reads_.kind.set(static_cast<std::uint64_t>(burst.type));
        read_data_ready_.set(0);
        owner_.settle();
        if (!answers(reads_.ready)) return false;
        owner_.cycle();
        reads_.valid.set(0);
        read_data_ready_.set(1);
        owner_.settle();
        for (unsigned beat = 0; beat < burst.beats; ++beat) {
            if (!answers(read_data_valid_) || read_response_.get() >= axi_target_error)
                return false;
            std::vector<std::uint8_t> lanes(bus_bytes_);
            read_data_.read(lanes);
            const auto lane = burst.address_of(beat) % bus_bytes_;
            const unsigned count = std::min(burst.bytes_of(beat), length - done);
            std::memcpy(bytes + done, lanes.data() + lane, count);
            done += count;
            owner_.cycle();
        }
    }
    return true;
}

}  // namespace trn::rtl
