// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <systemc>
#include <tlm>

namespace acme {

using sc_core::sc_time;

/// An instruction of `cpu`: operation, register, and a constant.
enum class op : std::uint32_t {
    halt = 1,
    set,       ///< r = constant
    shift,     ///< r <<= constant
    add,       ///< r += constant
    load,      ///< r = word at (address register + constant)
    store,     ///< word at (address register + constant) = r
    to_base,   ///< address register = r
    repeat,    ///< r -= 1, and the program counter += constant unless r is 0
    wait_irq,  ///< until the interrupt line is high
};
constexpr std::uint64_t code(op operation, unsigned r = 0, std::int32_t constant = 0) {
    return std::uint64_t{static_cast<std::uint32_t>(constant)} << 32 | r << 16 |
           static_cast<std::uint32_t>(operation);
}

/// A loosely-timed processor: one thread with a quantum keeper, which fetches 64-bit instructions
/// and moves words, through pointers where memory grants them. Starts when the first word of its
/// program is not 0, as processors do that another one releases.
template <unsigned Width>
class cpu : public sc_core::sc_module {
public:
    struct config {
        std::uint64_t start = 0;
        sc_time cycle{1, sc_core::SC_NS}, quantum{1, sc_core::SC_US};
        bool uses_pointers = true;
    };

    tlm_utils::simple_initiator_socket<cpu, Width> data{"data"};
    sc_core::sc_in<bool> irq{"irq"};
    sc_core::sc_in<bool> rst{"rst"};

    SC_HAS_PROCESS(cpu);
    cpu(sc_core::sc_module_name name, const config& cfg)
        : sc_module(name), cfg_(cfg), pc_(cfg.start) {
        data.register_invalidate_direct_mem_ptr(this, &cpu::invalidate);
        SC_THREAD(run);
    }

    std::uint64_t executed() const { return executed_; }
    std::uint64_t by_pointer() const { return by_pointer_; }
    bool has_halted() const { return has_halted_; }
    bool has_failed() const { return has_failed_; }
    sc_time halted_at() const { return halted_at_; }

private:
    void run() {
        tlm::tlm_global_quantum::instance().set(cfg_.quantum);
        keeper_.reset();
        std::uint64_t next = 0;
        while (!access(tlm::TLM_READ_COMMAND, pc_, next) || next == 0) sync(cfg_.quantum);
        while (!has_halted_ && !has_failed_) {
            has_failed_ = !access(tlm::TLM_READ_COMMAND, pc_, next);
            if (!has_failed_) execute(next);
            if (rst.read()) pc_ = cfg_.start;
        }
        keeper_.sync();
        halted_at_ = sc_core::sc_time_stamp();
    }
    void sync(const sc_time& time) {
        keeper_.inc(time);
        if (keeper_.need_sync()) keeper_.sync();
    }
    void execute(std::uint64_t instruction) {
        const auto constant = static_cast<std::int32_t>(instruction >> 32);
        std::uint64_t& r = registers_[instruction >> 16 & 7];
        const std::uint64_t address = base_ + static_cast<std::uint64_t>(std::int64_t{constant});
        std::uint32_t word = static_cast<std::uint32_t>(r);
        ++executed_;
        pc_ += 8;
        switch (static_cast<op>(instruction & 0xffff)) {
        case op::set:
            r = static_cast<std::uint64_t>(std::int64_t{constant});
            break;
        case op::shift:
            r <<= constant;
            break;
        case op::add:
            r += static_cast<std::uint64_t>(std::int64_t{constant});
            break;
        case op::load:
            has_failed_ = !access(tlm::TLM_READ_COMMAND, address, word);
            r = word;
            break;
        case op::store:
            has_failed_ = !access(tlm::TLM_WRITE_COMMAND, address, word);
            break;
        case op::to_base:
            base_ = r;
            break;
        case op::repeat:
            if (--r != 0) pc_ += static_cast<std::uint64_t>(std::int64_t{constant} * 8);
            break;
        case op::wait_irq:
            keeper_.sync();
            if (!irq.read()) sc_core::wait(irq.posedge_event());
            keeper_.reset();
            break;
        default:
            has_halted_ = true;
        }
        sync(cfg_.cycle);
    }
    template <class Value>
    bool access(tlm::tlm_command command, std::uint64_t address, Value& value) {
        if (dmi_.get_dmi_ptr() != nullptr && address >= dmi_.get_start_address() &&
            address + sizeof value - 1 <= dmi_.get_end_address() &&
            (command == tlm::TLM_READ_COMMAND ? dmi_.is_read_allowed() : dmi_.is_write_allowed())) {
            unsigned char* const bytes = dmi_.get_dmi_ptr() + (address - dmi_.get_start_address());
            if (command == tlm::TLM_READ_COMMAND)
                std::memcpy(&value, bytes, sizeof value);
            else
                std::memcpy(bytes, &value, sizeof value);
            keeper_.inc(command == tlm::TLM_READ_COMMAND ? dmi_.get_read_latency()
                                                         : dmi_.get_write_latency());
            ++by_pointer_;
            return true;
        }
        tlm::tlm_generic_payload request;
        request.set_command(command);
        request.set_address(address);
        request.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        request.set_data_length(sizeof value);
        request.set_streaming_width(sizeof value);
        sc_time delay = keeper_.get_local_time();
        data->b_transport(request, delay);
        keeper_.set(delay);
        if (request.is_dmi_allowed() && cfg_.uses_pointers) {
            tlm::tlm_dmi granted;  // a refusal of writes keeps the pointer for reads
            if (data->get_direct_mem_ptr(request, granted)) dmi_ = granted;
        }
        return request.is_response_ok();
    }
    void invalidate(sc_dt::uint64, sc_dt::uint64) { dmi_.init(); }

    const config cfg_;
    tlm_utils::tlm_quantumkeeper keeper_;
    tlm::tlm_dmi dmi_;
    std::uint64_t pc_, base_ = 0;
    std::array<std::uint64_t, 8> registers_{};
    std::uint64_t executed_ = 0, by_pointer_ = 0;
    bool has_halted_ = false, has_failed_ = false;
    sc_time halted_at_;
};

}  // namespace acme
