// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/rtl/apb_target.h"

namespace trn::rtl {

apb_target::apb_target(block& owner, const char* name, const std::string& prefix,
                       const register_table* registers)
    : word_target(owner, name, registers, owner.input(prefix + "pwdata").bytes(), "APB"),
      select_(owner.input(prefix + "psel", 1)),
      enable_(owner.input(prefix + "penable", 1)),
      write_(owner.input(prefix + "pwrite", 1)),
      address_(owner.input(prefix + "paddr")),
      write_data_(owner.input(prefix + "pwdata")),
      strobe_(owner.optional_input(prefix + "pstrb")),
      read_data_(owner.output(prefix + "prdata", write_data_.bits())),
      ready_(owner.optional_output(prefix + "pready")),
      error_(owner.optional_output(prefix + "pslverr")) {}

void apb_target::sample() {
    if (phase_ != phase::access) return;
    if (!is_ready()) {
        is_over_time(waited_, "PREADY", *current_);
        return;
    }
    call& answered = *std::exchange(current_, nullptr);
    if (answered.is_read()) read_data_.read({answered.get_data_ptr(), width_});
    phase_ = phase::idle;
    finish(answered, error_.is_high() ? error_of(answered) : tlm::TLM_OK_RESPONSE);
}

void apb_target::drive() {
    if (phase_ == phase::setup) {
        phase_ = phase::access;
        return enable_.set(1);
    }
    if (phase_ == phase::access) return;
    release();
    current_ = next();
    if (current_ == nullptr) return;
    phase_ = phase::setup;
    waited_ = 0;
    if (current_->is_write()) write_data_.write({current_->get_data_ptr(), width_});
    select(current_->get_address(), current_->is_write());
}

void apb_target::select(std::uint64_t address, bool is_write) {
    select_.set(1);
    enable_.set(0);
    write_.set(is_write ? 1 : 0);
    address_.set(address);
    strobe_.set(is_write ? ~std::uint64_t{0} : 0);
}

void apb_target::release() {
    select_.set(0);
    enable_.set(0);
}

void apb_target::reset() {
    release();
    phase_ = phase::idle;
    if (call* const ended = std::exchange(current_, nullptr))
        finish(*ended, tlm::TLM_GENERIC_ERROR_RESPONSE);
    fail_queued();
}

/// Ends the access under way first.
bool apb_target::try_read(std::uint64_t address, std::uint8_t* bytes, unsigned length) {
    const auto answers = [this] {
        for (std::uint64_t waited = 0; waited <= owner_.settings().time_out; ++waited) {
            if (is_ready()) return true;
            owner_.cycle();
        }
        return false;
    };
    if (phase_ == phase::setup) {
        owner_.cycle();
        enable_.set(1);
        owner_.settle();
    }
    if (phase_ != phase::idle) {
        if (!answers()) return false;
        owner_.cycle();
    }
    select(address, false);
    owner_.cycle();
    enable_.set(1);
    owner_.settle();
    if (!answers() || error_.is_high()) return false;
    read_data_.read({bytes, length});
    return true;
}

}  // namespace trn::rtl
