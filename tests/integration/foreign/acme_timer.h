// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

namespace acme {

using sc_core::sc_time;

/// Base of register-mapped peripherals, as libraries of peripherals have one: sockets of 32 bits,
/// b_transport that waits until the initiator's time and for its own latency, and registers with
/// callbacks.
class peripheral : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<peripheral, 32> in{"in"};
    sc_core::sc_in<bool> rst{"rst"};

protected:
    struct hardware_register {
        std::uint32_t value = 0, reset = 0;
        std::function<std::uint32_t()> on_read = {};
        std::function<void(std::uint32_t)> on_write = {};
    };

    SC_HAS_PROCESS(peripheral);
    peripheral(const sc_core::sc_module_name& name, const sc_time& latency)
        : sc_module(name), latency_(latency) {
        in.register_b_transport(this, &peripheral::b_transport);
        in.register_transport_dbg(this, &peripheral::transport_dbg);
        SC_METHOD(watch_reset);
        sensitive << rst.pos();
        dont_initialize();
    }
    hardware_register& add_register(std::uint64_t offset, std::uint32_t reset = 0) {
        return registers_[offset] = {reset, reset};
    }
    virtual void reset() {
        for (auto& [offset, each] : registers_) each.value = each.reset;
    }

private:
    using payload = tlm::tlm_generic_payload;

    void watch_reset() { reset(); }
    void b_transport(payload& request, sc_time& delay) {
        sc_core::wait(delay + latency_);
        delay = sc_core::SC_ZERO_TIME;
        const auto found = registers_.find(request.get_address());
        if (found == registers_.end())
            return request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        if (request.get_data_length() != 4 || request.get_byte_enable_ptr() != nullptr)
            return request.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        auto& [value, initial, on_read, on_write] = found->second;
        if (request.is_write()) {
            std::uint32_t written = 0;
            std::memcpy(&written, request.get_data_ptr(), 4);
            if (on_write)
                on_write(written);
            else
                value = written;
        } else {
            const std::uint32_t read = on_read ? on_read() : value;
            std::memcpy(request.get_data_ptr(), &read, 4);
        }
        request.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    unsigned transport_dbg(payload& request) {
        const auto found = registers_.find(request.get_address());
        if (found == registers_.end() || request.get_data_length() != 4) return 0;
        if (request.is_write())
            std::memcpy(&found->second.value, request.get_data_ptr(), 4);
        else
            std::memcpy(request.get_data_ptr(), &found->second.value, 4);
        return 4;
    }

    const sc_time latency_;
    std::map<std::uint64_t, hardware_register> registers_;
};

/// A one-shot timer: LOAD starts it, its end raises the interrupt until STATUS is cleared.
/// MISBEHAVE makes the next access fail as models of others do.
class timer : public peripheral {
public:
    enum : std::uint64_t { load = 0x0, status = 0x4, scratch = 0x8, fired = 0xc, misbehave = 0x10 };
    enum : std::uint32_t { throws = 1, hangs = 2 };
    struct config {
        sc_time access_latency{50, sc_core::SC_NS};
    };

    sc_core::sc_out<bool> irq{"irq"};

    SC_HAS_PROCESS(timer);
    timer(sc_core::sc_module_name name, const config& cfg) : peripheral(name, cfg.access_latency) {
        add_register(load).on_write = [this](std::uint32_t nanoseconds) {
            due_.notify(sc_time(nanoseconds, sc_core::SC_NS));
        };
        status_ = &add_register(status);
        status_->on_write = [this](std::uint32_t ones) {
            status_->value &= ~ones;
            irq.write(status_->value != 0);
        };
        add_register(scratch, 0x1234);
        fired_ = &add_register(fired);
        add_register(misbehave).on_write = [](std::uint32_t how) {
            if (how == throws) SC_REPORT_ERROR("/acme/timer", "the register file is broken");
            if (how == hangs) sc_core::wait(sc_core::sc_event());
        };
        SC_METHOD(ring);
        sensitive << due_;
        dont_initialize();
    }

private:
    void ring() {
        status_->value = 1;
        ++fired_->value;
        irq.write(true);
    }
    void reset() override {
        peripheral::reset();
        due_.cancel();
        irq.write(false);
    }

    hardware_register *status_ = nullptr, *fired_ = nullptr;
    sc_core::sc_event due_;
};

}  // namespace acme
