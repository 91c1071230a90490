// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <systemc>
#include <utility>
#include <vector>

#include "models/soc/uart/byte_slots.h"
#include "platform/framework/kernel/byte_channel.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/irq.h"

namespace trn {

/// A ns16550a with 32-bit register slots. Sinks receive transmitted characters immediately; LSR and
/// the interrupt show the time that they need on the line. Typed characters are queued before the
/// receive FIFO, so they are never lost. Spec: doc/models/soc/uart.md.
class uart : public sc_core::sc_module, public console {
public:
    struct config {
        /// Input clock; the baud rate is this / (16 * divisor).
        std::uint64_t clock_hz = 48'000'000;
        sc_core::sc_time access_latency{20, sc_core::SC_NS};  ///< per register access
        std::uint64_t type_ahead = 4096;  ///< limit of queued characters of type()
    };

    byte_slot_socket in{"in", regs_, byte_access_};
    irq_in reset{"reset", 1, [this](unsigned, bool level) {
                     if (level) clear();
                 }};
    irq_out irq{"irq"};

    uart(sc_core::sc_module_name name, const config& cfg) : uart(name, cfg, false) {}

    void on_output(sink output) override { sinks_.push_back(std::move(output)); }
    std::size_t type(std::string_view characters) override;

    const config& settings() const { return cfg_; }

protected:
    uart(sc_core::sc_module_name name, const config& cfg, bool byte_access);

private:
    static constexpr std::size_t fifo_depth = 16;
    /// Interrupt causes with their values of IIR bits 3:0, highest priority first.
    enum class cause : std::uint8_t { line = 6, data = 4, timeout = 12, transmit = 2, none = 1 };

    void define_registers();
    void define_divisor_and_data();
    void wake();

    void clear();
    // `delay`: annotated delay of the access; zero for what comes from outside.
    void transmit(std::uint8_t character, const sc_core::sc_time& delay);
    std::uint8_t receive(const sc_core::sc_time& delay);
    void arrive(std::uint8_t character, const sc_core::sc_time& delay);
    void fill_fifo(const sc_core::sc_time& delay);
    void control_fifos(std::uint64_t written, const sc_core::sc_time& delay);
    void enable_interrupts(std::uint64_t enables, const sc_core::sc_time& delay);

    bool divisor_latch() const;
    bool loopback() const;
    std::size_t depth() const { return fifos_on_ ? fifo_depth : 1; }
    std::size_t trigger_level() const;
    sc_core::sc_time character_time() const;
    bool transmitter_empty(const sc_core::sc_time& now) const;
    std::uint64_t line_status(const sc_core::sc_time& now) const;
    std::uint64_t identification() const;
    cause pending() const;
    void update_irq(const sc_core::sc_time& delay);

    const config cfg_;
    const bool byte_access_;
    register_bank regs_;
    std::vector<sink> sinks_;
    std::deque<std::uint8_t> typed_;     // typed, not yet in the FIFO
    std::deque<std::uint8_t> received_;  // receive FIFO
    sc_core::sc_time line_free_;         // absolute time at which the last character has been sent
    std::uint64_t divisor_ = 0, enables_ = 0;
    bool fifos_on_ = false, overrun_ = false;
    bool transmit_pending_ = false;  // transmitter-empty interrupt, not yet acknowledged
    bool timed_out_ = false;
    unsigned trigger_code_ = 0;
    sc_core::sc_event transmitted_, rested_;
};

/// A UART that also accepts byte accesses to its slots, as stock drivers make them.
class byte_uart : public uart {
public:
    byte_uart(sc_core::sc_module_name name, const config& cfg) : uart(name, cfg, true) {}
};

/// A byte_uart for a program, as the agent of a host inside: its bytes are no text for people.
class program_uart : public uart, public byte_channel {
public:
    program_uart(sc_core::sc_module_name name, const config& cfg) : uart(name, cfg, true) {}

    void on_output(console::sink output) override { uart::on_output(std::move(output)); }
    std::size_t type(std::string_view bytes) override { return uart::type(bytes); }
};

}  // namespace trn
