// SPDX-License-Identifier: Apache-2.0
#include "models/soc/uart/uart.h"

#include <algorithm>

#include "models/soc/uart/uart_regs.h"

namespace trn {

using namespace uart_regs;
using sc_core::sc_time;
using sc_core::sc_time_stamp;
using sc_core::SC_ZERO_TIME;

uart::uart(sc_core::sc_module_name name, const config& cfg, bool byte_access)
    : sc_module(name),
      cfg_(cfg),
      byte_access_(byte_access),
      regs_(uart_regs::table, {.latency = cfg.access_latency}) {
    define_registers();

    SC_HAS_PROCESS(uart);
    SC_METHOD(wake);
    sensitive << transmitted_ << rested_;
    dont_initialize();
}

void uart::define_registers() {
    define_divisor_and_data();
    regs_.view(reg::iir_fcr, [this](unsigned, unsigned) { return identification(); });
    regs_.on_read(reg::iir_fcr, [this](register_access& a) {
        if (pending() == cause::transmit) transmit_pending_ = false;
        update_irq(a.delay);
    });
    regs_.on_write(reg::iir_fcr, [this](register_access& a) { control_fifos(a.written, a.delay); });
    regs_.view(reg::lsr, [this](unsigned, unsigned, const sc_time& delay) {
        return line_status(sc_time_stamp() + delay);
    });
    regs_.on_read(reg::lsr, [this](register_access& a) {
        overrun_ = false;
        update_irq(a.delay);
    });
}

void uart::define_divisor_and_data() {
    regs_.view(reg::data, [this](unsigned, unsigned) -> std::uint64_t {
        if (divisor_latch()) return divisor_ & 0xff;
        return received_.empty() ? 0 : received_.front();
    });
    regs_.on_read(reg::data, [this](register_access& a) {
        if (!divisor_latch()) receive(a.delay);
    });
    regs_.on_write(reg::data, [this](register_access& a) {
        if (divisor_latch())
            divisor_ = (divisor_ & 0xff00) | (a.written & 0xff);
        else
            transmit(static_cast<std::uint8_t>(a.written), a.delay);
    });
    regs_.view(reg::ier, [this](unsigned, unsigned) -> std::uint64_t {
        return divisor_latch() ? divisor_ >> 8 : enables_;
    });
    regs_.on_write(reg::ier, [this](register_access& a) {
        if (divisor_latch())
            divisor_ = (divisor_ & 0xff) | (a.written & 0xff) << 8;
        else
            enable_interrupts(a.written & 0xf, a.delay);
    });
}

/// Chip reset: characters being transmitted or received are lost.
void uart::clear() {
    regs_.reset();
    typed_.clear();
    received_.clear();
    line_free_ = SC_ZERO_TIME;
    divisor_ = enables_ = 0;
    fifos_on_ = overrun_ = transmit_pending_ = timed_out_ = false;
    trigger_code_ = 0;
    transmitted_.cancel();
    rested_.cancel();
    irq.cancel();
    update_irq(SC_ZERO_TIME);
}

// --- Transmitter

sc_time uart::character_time() const {
    const std::uint64_t line = regs_[reg::lcr];
    const std::uint64_t stop = lcr::stop_bits.get(line) != 0 ? 2 : 1;
    const std::uint64_t parity = lcr::parity.get(line) & 1;
    const std::uint64_t bits = 1 + 5 + lcr::word_length.get(line) + parity + stop;
    const std::uint64_t clocks = bits * 16 * std::max<std::uint64_t>(divisor_, 1);
    return sc_time(static_cast<double>(clocks) * 1e9 / static_cast<double>(cfg_.clock_hz),
                   sc_core::SC_NS);
}

/// Whether the last character has moved from FIFO or holding register into the shift register.
bool uart::transmitter_empty(const sc_time& now) const {
    return line_free_ <= now + character_time();
}

void uart::transmit(std::uint8_t character, const sc_time& delay) {
    const sc_time now = sc_time_stamp() + delay;
    transmit_pending_ = false;
    if (loopback()) {
        arrive(character, delay);
    } else {
        const char c = static_cast<char>(character);
        for (const auto& sink : sinks_) sink(std::string_view(&c, 1));
    }
    // A guest that ignores LSR overruns the FIFO. The model does not lose its characters, but
    // limits the time that the line is busy to a full FIFO.
    const sc_time duration = character_time();
    const sc_time full = now + duration * static_cast<double>(depth() + 1);
    line_free_ = std::min(std::max(line_free_, now) + duration, full);
    transmitted_.cancel();
    if ((enables_ & ier::tx_empty.mask()) != 0)
        transmitted_.notify(std::max(line_free_ - duration, sc_time_stamp()) - sc_time_stamp());
    update_irq(delay);
}

void uart::enable_interrupts(std::uint64_t enables, const sc_time& delay) {
    const bool was_on = (enables_ & ier::tx_empty.mask()) != 0;
    const bool is_on = (enables & ier::tx_empty.mask()) != 0;
    enables_ = enables;
    // A 16550 interrupts immediately when the interrupt is enabled while the transmitter is empty.
    if (is_on && !was_on) {
        transmit_pending_ = transmitter_empty(sc_time_stamp() + delay);
        if (!transmit_pending_)
            transmitted_.notify(line_free_ - character_time() - sc_time_stamp());
    }
    update_irq(delay);
}

// --- Receiver

std::size_t uart::type(std::string_view characters) {
    const std::size_t taken =
        std::min<std::size_t>(characters.size(), cfg_.type_ahead - typed_.size());
    typed_.insert(typed_.end(), characters.begin(),
                  characters.begin() + static_cast<std::ptrdiff_t>(taken));
    fill_fifo(SC_ZERO_TIME);
    return taken;
}

/// Moves typed characters to the FIFO while it has room.
void uart::fill_fifo(const sc_time& delay) {
    while (!typed_.empty() && received_.size() < depth()) {
        arrive(typed_.front(), delay);
        typed_.pop_front();
    }
}

void uart::arrive(std::uint8_t character, const sc_time& delay) {
    if (received_.size() >= depth())
        overrun_ = true;
    else
        received_.push_back(character);
    timed_out_ = false;
    rested_.cancel();
    if (fifos_on_) rested_.notify(delay + character_time() * 4);
    update_irq(delay);
}

std::uint8_t uart::receive(const sc_time& delay) {
    if (received_.empty()) return 0;
    const std::uint8_t character = received_.front();
    received_.pop_front();
    timed_out_ = false;
    rested_.cancel();
    fill_fifo(delay);
    if (fifos_on_ && !received_.empty()) rested_.notify(delay + character_time() * 4);
    update_irq(delay);
    return character;
}

void uart::control_fifos(std::uint64_t written, const sc_time& delay) {
    const bool on = iir_fcr::fifo_enable.get(written) != 0;
    const bool switched = on != fifos_on_;
    fifos_on_ = on;
    trigger_code_ = static_cast<unsigned>(iir_fcr::rx_trigger.get(written));
    if (switched || iir_fcr::rx_clear.get(written) != 0) {
        received_.clear();
        timed_out_ = false;
        rested_.cancel();
    }
    if (switched || iir_fcr::tx_clear.get(written) != 0) line_free_ = SC_ZERO_TIME;
    fill_fifo(delay);
    update_irq(delay);
}

std::size_t uart::trigger_level() const {
    static constexpr std::size_t levels[] = {1, 4, 8, 14};
    return fifos_on_ ? levels[trigger_code_] : 1;
}

// --- Status and interrupt

bool uart::divisor_latch() const {
    return lcr::dlab.get(regs_[reg::lcr]) != 0;
}

bool uart::loopback() const {
    return mcr::loopback.get(regs_[reg::mcr]) != 0;
}

std::uint64_t uart::line_status(const sc_time& now) const {
    return (received_.empty() ? 0 : lsr::data_ready.mask()) | (overrun_ ? lsr::overrun.mask() : 0) |
           (transmitter_empty(now) ? lsr::tx_empty.mask() : 0) |
           (line_free_ <= now ? lsr::tx_idle.mask() : 0);
}

uart::cause uart::pending() const {
    const bool data = (enables_ & ier::rx_ready.mask()) != 0;
    if ((enables_ & ier::line_status.mask()) != 0 && overrun_) return cause::line;
    if (data && received_.size() >= trigger_level()) return cause::data;
    if (data && timed_out_) return cause::timeout;
    if ((enables_ & ier::tx_empty.mask()) != 0 && transmit_pending_) return cause::transmit;
    return cause::none;
}

std::uint64_t uart::identification() const {
    return static_cast<std::uint64_t>(pending()) | (fifos_on_ ? iir_fcr::rx_trigger.mask() : 0);
}

void uart::update_irq(const sc_time& delay) {
    irq.set(pending() != cause::none, delay);
}

/// The transmitter has become empty, or the receive timeout of the FIFO has expired.
void uart::wake() {
    if (transmitted_.triggered()) transmit_pending_ = transmitter_empty(sc_time_stamp());
    if (rested_.triggered()) timed_out_ = !received_.empty();
    update_irq(SC_ZERO_TIME);
}

}  // namespace trn
