// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/rtl/axi_lite_target.h"

#include <fmt/format.h>

#include <utility>

namespace trn::rtl {

namespace {

constexpr std::uint64_t decode_error = 3;

}  // namespace

axi_lite_target::axi_lite_target(block& owner, const char* name, const std::string& prefix,
                                 const register_table* registers)
    : word_target(owner, name, registers, owner.input(prefix + "wdata").bytes(), "AXI4-Lite"),
      write_address_(owner.input(prefix + "awaddr")),
      write_address_valid_(owner.input(prefix + "awvalid", 1)),
      write_data_(owner.input(prefix + "wdata")),
      strobe_(owner.input(prefix + "wstrb", width_)),
      write_data_valid_(owner.input(prefix + "wvalid", 1)),
      write_response_ready_(owner.input(prefix + "bready", 1)),
      read_address_(owner.input(prefix + "araddr")),
      read_address_valid_(owner.input(prefix + "arvalid", 1)),
      read_data_ready_(owner.input(prefix + "rready", 1)),
      write_address_ready_(owner.output(prefix + "awready", 1)),
      write_data_ready_(owner.output(prefix + "wready", 1)),
      write_response_valid_(owner.output(prefix + "bvalid", 1)),
      write_response_(owner.output(prefix + "bresp", 2)),
      read_address_ready_(owner.output(prefix + "arready", 1)),
      read_data_(owner.output(prefix + "rdata", write_data_.bits())),
      read_response_(owner.output(prefix + "rresp", 2)),
      read_data_valid_(owner.output(prefix + "rvalid", 1)) {}

void axi_lite_target::sample() {
    const bool is_write = current_ != nullptr && current_->is_write();
    if (write_response_valid_.is_high() && !is_write)
        return owner_.hang(fmt::format("BVALID without a write ({})", in.name()));
    if (read_data_valid_.is_high() && (current_ == nullptr || is_write))
        return owner_.hang(fmt::format("RVALID without a read ({})", in.name()));
    if (current_ == nullptr) return;
    is_write ? sample_write() : sample_read();
    if (current_ != nullptr) is_over_time(waited_, handshake(), *current_);
}

/// An answer may come in the cycle of the handshake that it answers.
void axi_lite_target::sample_write() {
    is_address_taken_ |= write_address_ready_.is_high();
    is_data_taken_ |= write_data_ready_.is_high();
    if (!write_response_valid_.is_high()) return;
    if (!is_address_taken_ || !is_data_taken_)
        return owner_.hang(fmt::format("BVALID before the write is accepted ({})", in.name()));
    end(write_response_.get());
}

void axi_lite_target::sample_read() {
    is_address_taken_ |= read_address_ready_.is_high();
    if (!read_data_valid_.is_high()) return;
    if (!is_address_taken_)
        return owner_.hang(fmt::format("RVALID before the read is accepted ({})", in.name()));
    read_data_.read({current_->get_data_ptr(), width_});
    end(read_response_.get());
}

void axi_lite_target::end(std::uint64_t response) {
    call& answered = *std::exchange(current_, nullptr);
    finish(answered, response == decode_error ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                     : response != 0          ? error_of(answered)
                                              : tlm::TLM_OK_RESPONSE);
}

/// That the current access waits for.
const char* axi_lite_target::handshake() const {
    if (current_->is_read()) return is_address_taken_ ? "RVALID" : "ARREADY";
    if (!is_address_taken_) return "AWREADY";
    return is_data_taken_ ? "BVALID" : "WREADY";
}

void axi_lite_target::drive() {
    if (current_ == nullptr) begin();
    const bool is_write = current_ != nullptr && current_->is_write();
    const bool is_read = current_ != nullptr && !is_write;
    write_address_valid_.set(is_write && !is_address_taken_);
    write_data_valid_.set(is_write && !is_data_taken_);
    write_response_ready_.set(is_write);
    read_address_valid_.set(is_read && !is_address_taken_);
    read_data_ready_.set(is_read);
}

void axi_lite_target::begin() {
    current_ = next();
    if (current_ == nullptr) return;
    is_address_taken_ = is_data_taken_ = false;
    waited_ = 0;
    if (current_->is_read()) return read_address_.set(current_->get_address());
    write_address_.set(current_->get_address());
    write_data_.write({current_->get_data_ptr(), width_});
    strobe_.set(~std::uint64_t{0});
}

void axi_lite_target::set_idle() {
    write_address_valid_.set(0);
    write_data_valid_.set(0);
    write_response_ready_.set(0);
    read_address_valid_.set(0);
    read_data_ready_.set(0);
}

void axi_lite_target::reset() {
    set_idle();
    if (call* const ended = std::exchange(current_, nullptr))
        finish(*ended, tlm::TLM_GENERIC_ERROR_RESPONSE);
    fail_queued();
}

/// In try_out(): whether the handshake comes in time.
bool axi_lite_target::answers(const pin& handshake) {
    for (std::uint64_t waited = 0; waited <= owner_.settings().time_out; ++waited) {
        if (handshake.is_high()) return true;
        owner_.cycle();
    }
    return false;
}

/// Ends a read under way first; a write stays as it is.
bool axi_lite_target::try_read(std::uint64_t address, std::uint8_t* bytes, unsigned length) {
    const auto take = [this](bool is_address_taken) {
        read_address_valid_.set(!is_address_taken);
        read_data_ready_.set(0);
        owner_.settle();
        if (!is_address_taken && !answers(read_address_ready_)) return false;
        if (!is_address_taken) owner_.cycle();
        read_address_valid_.set(0);
        read_data_ready_.set(1);
        owner_.settle();
        return answers(read_data_valid_);
    };
    if (current_ != nullptr && current_->is_read()) {
        if (!take(is_address_taken_)) return false;
        owner_.cycle();
    }
    read_address_.set(address);
    if (!take(false) || read_response_.get() != 0) return false;
    read_data_.read({bytes, length});
    return true;
}

}  // namespace trn::rtl
