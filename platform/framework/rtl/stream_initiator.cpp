// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/rtl/stream_initiator.h"

#include <utility>

#include "platform/framework/kernel/time_value.h"
#include "platform/framework/log.h"

namespace trn::rtl {

using sc_core::sc_time_stamp;

namespace {

constexpr std::size_t longest_write = 4096;

}  // namespace

stream_initiator::stream_initiator(block& owner, const char* name, const std::string& prefix,
                                   const settings& options)
    : initiator(initiator::kind::dma),
      out(name),
      owner_(owner),
      options_(options),
      stalls_(out.name(), options.stall_percent),
      ready_(owner.input(prefix + "tready", 1)),
      valid_(owner.output(prefix + "tvalid", 1)),
      data_(owner.output(prefix + "tdata")),
      keep_(owner.optional_output(prefix + "tkeep")),
      last_(owner.optional_output(prefix + "tlast")),
      beat_bytes_(data_.bytes()),
      answers_(owner) {
    owner.join(*this);
    out.bind(*this);
}

void stream_initiator::sample() {
    if (valid_.is_high() && ready_.is_high()) take_beat();
}

void stream_initiator::take_beat() {
    std::vector<std::uint8_t> lanes(beat_bytes_), kept((beat_bytes_ + 7) / 8, 0xff);
    data_.read(lanes);
    keep_.read(kept);
    for (unsigned n = 0; n < beat_bytes_; ++n)
        if ((kept[n / 8] >> n % 8 & 1) != 0) packet_.push_back(lanes[n]);
    is_complete_ =
        !last_.is_connected() || last_.is_high() || packet_.size() + beat_bytes_ > longest_write;
}

void stream_initiator::drive() {
    const acting source(*this);
    const bool has_answers = answers_.take();
    if (is_complete_ && !is_writing_ && !packet_.empty()) {
        write_.bytes = std::exchange(packet_, {});
        write_.send(out, tlm::TLM_WRITE_COMMAND, options_.address,
                    static_cast<unsigned>(write_.bytes.size()));
        is_writing_ = true;
    } else if (is_writing_ && has_answers && write_.is_deferred()) {
        write_.repeat(out);
    }
    if (!is_writing_) is_complete_ = false;
    if (is_writing_ && !write_.is_deferred() && write_.end() <= sc_time_stamp()) end_write();
    ready_.set(!is_complete_ && !stalls_.next());
}

void stream_initiator::end_write() {
    is_writing_ = is_complete_ = false;
    if (write_.response() == tlm::TLM_OK_RESPONSE || std::exchange(has_told_, true)) return;
    log::guest_warn(out.name(), "a packet of {} bytes to {:#x} is lost: {}; reported once",
                    write_.bytes.size(), options_.address, write_.payload().get_response_string());
}

void stream_initiator::reset() {
    write_.abandon();
    packet_.clear();
    answers_.take();
    is_writing_ = is_complete_ = false;
    ready_.set(0);
}

bool stream_initiator::is_idle() const {
    if (answers_.are_waiting()) return false;
    if (is_writing_) return write_.is_deferred() || write_.end() > sc_time_stamp();
    return !is_complete_ && !valid_.is_high();
}

std::optional<sc_core::sc_time> stream_initiator::due() const {
    if (!is_writing_ || write_.is_deferred()) return std::nullopt;
    return write_.end() - time_of_value(1);  // an edge at the end is late enough
}

}  // namespace trn::rtl
