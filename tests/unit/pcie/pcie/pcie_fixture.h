// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstring>
#include <map>
#include <systemc>
#include <tlm>

#include "models/pcie/pcie/pcie_endpoint.h"
#include "models/pcie/root_complex/root_complex.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"
#include "tests/support/deferring_memory.h"
#include "tests/support/tlm_driver.h"

namespace trn::test {

/// 32-bit registers with a register bank's checks: parts of words are burst errors, after the words
/// before them; streaming bursts are, and partly enabled words are byte enable errors.
class word_registers : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<word_registers, 64> in{"in"};
    std::array<std::uint32_t, 1024> words{};
    std::map<std::uint64_t, unsigned> accesses;  // by offset

    explicit word_registers(sc_core::sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &word_registers::b_transport);
    }

private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
        if (payload.get_streaming_width() < payload.get_data_length())
            return payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        if (payload.get_byte_enable_ptr() != nullptr)
            return payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
        for (unsigned done = 0; done < payload.get_data_length(); done += 4) {
            const auto at = payload.get_address() + done;
            if (payload.get_data_length() - done < 4 || at % 4 != 0) {
                payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
                return;
            }
            ++accesses[at];
            std::uint32_t& word = words.at(at / 4);
            if (payload.is_write())
                std::memcpy(&word, payload.get_data_ptr() + done, 4);
            else
                std::memcpy(payload.get_data_ptr() + done, &word, 4);
        }
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};

/// A function on its link with a minimal chip: BAR0 maps registers at 0, a RAM at 0x1000'0000 and
/// memory that defers accesses at 0x2000'0000, BAR4 maps two memories with a hole between them;
/// `engine` is the chip's DMA.
struct pcie_system {
    static constexpr std::uint64_t ram_at = 0x1000'0000;
    static constexpr std::uint64_t slow_at = 0x2000'0000;
    static constexpr std::uint64_t stack = std::uint64_t{36} << 30;
    static constexpr std::uint64_t slice = std::uint64_t{64} << 30;

    explicit pcie_system(const pcie_endpoint::config& cfg = {}) : endpoint("endpoint", cfg) {}

    template <typename T>
    T config(std::uint32_t offset) {
        T value{};
        root.config_read(offset, {reinterpret_cast<std::uint8_t*>(&value), sizeof value});
        return value;
    }
    template <typename T>
    void set_config(std::uint32_t offset, T value) {
        root.config_write(offset, {reinterpret_cast<std::uint8_t*>(&value), sizeof value});
    }
    template <typename T>
    T read(unsigned bar, std::uint64_t offset) {
        T value{};
        known = root.bar_read(bar, offset, {reinterpret_cast<std::uint8_t*>(&value), sizeof value},
                              delay);
        return value;
    }
    template <typename T>
    void write(unsigned bar, std::uint64_t offset, T value) {
        known = root.bar_write(
            bar, offset, {reinterpret_cast<const std::uint8_t*>(&value), sizeof value}, delay);
    }
    void enable() { set_config<std::uint16_t>(4, 0x6); }  // memory space, bus master

    root_complex complex{"complex", {}};
    pcie_endpoint endpoint;
    router bar0{"bar0", {}}, bar4{"bar4", {}};
    word_registers registers{"registers"};
    memory ram{"ram", {.size = 1 << 20}};
    deferring_memory slow{"slow"};
    memory hbm0{"hbm0", {.size = stack, .shared = true}};
    memory hbm1{"hbm1", {.size = stack, .shared = true}};
    tlm_driver engine{"engine"};
    pcie::host_function& root = bind_and_start();
    bool known = false;  // the last access named a BAR and a valid range in it
    sc_core::sc_time delay;

private:
    pcie::host_function& bind_and_start() {
        complex.port[0].join(endpoint.link);
        endpoint.bar0.bind(bar0.target);
        endpoint.bar4.bind(bar4.target);
        engine.out.bind(endpoint.dma);
        bar0.initiator.bind(registers.in);
        bar0.initiator.bind(ram.in);
        bar0.initiator.bind(slow.in);
        bar4.initiator.bind(hbm0.in);
        bar4.initiator.bind(hbm1.in);
        bar0.map({.base = 0, .size = 4096, .target_base = 0, .port = 0});
        bar0.map({.base = ram_at, .size = 1 << 20, .target_base = 0, .port = 1});
        bar0.map({.base = slow_at, .size = 4096, .target_base = 0, .port = 2});
        bar4.map({.base = 0, .size = stack, .target_base = 0, .port = 0});
        bar4.map({.base = slice, .size = stack, .target_base = 0, .port = 1});
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        return complex.function(0);
    }
};

}  // namespace trn::test
