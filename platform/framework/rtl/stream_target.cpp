// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/rtl/stream_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "platform/framework/bridges/reports.h"

namespace trn::rtl {

stream_target::stream_target(block& owner, const char* name, const std::string& prefix)
    : bus_target(owner, name, nullptr),
      valid_(owner.input(prefix + "tvalid", 1)),
      data_(owner.input(prefix + "tdata")),
      keep_(owner.optional_input(prefix + "tkeep")),
      last_(owner.optional_input(prefix + "tlast")),
      ready_(owner.output(prefix + "tready", 1)),
      beat_bytes_(data_.bytes()) {}

tlm::tlm_response_status stream_target::refusal(const tlm::tlm_generic_payload& payload) const {
    if (!payload.is_write()) return tlm::TLM_COMMAND_ERROR_RESPONSE;
    if (payload.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
    const bool is_whole = keep_.is_connected() || payload.get_data_length() % beat_bytes_ == 0;
    return is_whole ? tlm::TLM_OK_RESPONSE : tlm::TLM_BURST_ERROR_RESPONSE;
}

std::string stream_target::describe(const tlm::tlm_generic_payload& payload) const {
    return fmt::format("a packet of {} bytes (AXI4-Stream)", payload.get_data_length());
}

void stream_target::sample() {
    if (current_ == nullptr) return;
    if (!ready_.is_high()) {
        is_over_time(waited_, "TREADY", *current_);
        return;
    }
    waited_ = 0;
    done_ += std::min(beat_bytes_, current_->get_data_length() - done_);
    if (done_ == current_->get_data_length())
        finish(*std::exchange(current_, nullptr), tlm::TLM_OK_RESPONSE);
}

void stream_target::drive() {
    if (current_ == nullptr) {
        current_ = next();
        done_ = 0;
        waited_ = 0;
    }
    valid_.set(current_ != nullptr);
    if (current_ == nullptr) return;
    const unsigned count = std::min(beat_bytes_, current_->get_data_length() - done_);
    std::vector<std::uint8_t> lanes(beat_bytes_), kept((beat_bytes_ + 7) / 8);
    std::copy_n(current_->get_data_ptr() + done_, count, lanes.begin());
    for (unsigned n = 0; n < count; ++n) kept[n / 8] |= static_cast<std::uint8_t>(1u << n % 8);
    data_.write(lanes);
    keep_.write(kept);
    last_.set(done_ + count == current_->get_data_length());
}

void stream_target::reset() {
    valid_.set(0);
    if (call* const ended = std::exchange(current_, nullptr))
        finish(*ended, tlm::TLM_GENERIC_ERROR_RESPONSE);
    fail_queued();
}

}  // namespace trn::rtl
