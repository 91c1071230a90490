// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <list>
#include <optional>
#include <vector>

#include "models/dma/udma/udma.h"
#include "models/dma/udma/udma_regs.h"
#include "models/memory/hbm/hbm.h"
#include "models/soc/semaphores/semaphores.h"
#include "platform/framework/kernel/started_work.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/pending_access.h"
#include "platform/framework/tlm/router.h"
#include "tests/support/memory_path.h"
#include "tests/support/tlm_driver.h"

namespace trn::test {

using sc_core::sc_time;
namespace regs = udma_regs;
using regs::reg;

constexpr unsigned m2s = 0, s2m = 1;
constexpr std::uint64_t src = 0x1000'0000, dst = 0x2000'0000;  // of copies, in HBM

/// Semaphores at a socket, and host memory that replies only on request.
class semaphore_target : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<semaphore_target, 64> in{"in"};
    semaphores block{*this};
    sc_time latency;  ///< of each access
    explicit semaphore_target(sc_core::sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &semaphore_target::b_transport);
    }

private:
    void b_transport(tlm::tlm_generic_payload& p, sc_time& delay) {
        block.access(p, delay);
        delay += latency;
    }
};

class message_memory : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<message_memory, 64> in{"in"};
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(1 << 20);
    unsigned questions = 0;
    unsigned abandoned_questions = 0;

    explicit message_memory(sc_core::sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &message_memory::b_transport);
    }
    /// Sends the client's replies to all requests.
    void answer() {
        for (question& each : open_) {
            each.answered = true;
            each.asker.wake();
        }
    }

private:
    struct question {
        deferral asker;
        bool answered = false;
    };

    void b_transport(tlm::tlm_generic_payload& p, sc_time&) {
        abandoned_questions += static_cast<unsigned>(
            std::erase_if(open_, [](const question& each) { return !each.asker.is_used(); }));
        auto at = std::ranges::find_if(open_, [&](auto& each) { return each.asker.holds(p); });
        if (at == open_.end()) {
            ++questions;
            at = open_.emplace(open_.end());
        }
        if (!at->answered) return at->asker.hold(p);
        copy_payload(p, bytes.data(), bytes.size());
        open_.erase(at);
    }
    std::list<question> open_;
};

/// One group of engines with an HBM stack, host memory, message memory, semaphores and its
/// registers on one address map.
class dma_bench {
public:
    static constexpr std::uint64_t host_at = 1ull << 46;
    static constexpr std::uint64_t message_at = host_at + (1ull << 32);
    static constexpr std::uint64_t semaphores_at = 0x2002700000;
    static constexpr std::uint64_t registers_at = 0x1002000000;
    static constexpr std::uint64_t ring_at = 0x4000'0000;  // in HBM; 1 MiB per queue and side

    explicit dma_bench(const udma::config& cfg = {}) : dma("dma", cfg) {
        cpu.out.bind(bus.target);
        bind_memory(dma.memory, bus.target, path);
        bus.initiator.bind(stack.in);
        bus.initiator.bind(host.in);
        bus.initiator.bind(messages.in);
        bus.initiator.bind(sems.in);
        bus.initiator.bind(dma.registers);
        control.out.bind(stack.control);
        bus.map({0, 36ull << 30, 0, 0});
        bus.map({host_at, 1ull << 30, 0, 1});
        bus.map({message_at, 1 << 20, 0, 2});
        bus.map({semaphores_at, semaphores::size, 0, 3});
        bus.map({registers_at, cfg.stride * cfg.engines, 0, 4});
        for (unsigned line = 0; line < reset_lines.size(); ++line)
            reset_lines[line].bind(dma.reset, line);
    }

    std::uint64_t address(reg r, unsigned index = 0, unsigned engine = 0) const {
        return registers_at + engine * dma.settings().stride + regs::offset(r, index);
    }
    std::uint32_t read(reg r, unsigned index = 0, unsigned engine = 0) {
        const auto value = cpu.read(address(r, index, engine));
        EXPECT_EQ(cpu.response, tlm::TLM_OK_RESPONSE);
        return value;
    }
    void write(reg r, std::uint32_t value, unsigned index = 0, unsigned engine = 0) {
        EXPECT_EQ(cpu.write(address(r, index, engine), value), tlm::TLM_OK_RESPONSE);
    }

    /// The driver's queue init (contract 6.3) for both sides, rings in HBM.
    void init_queue(unsigned q = 0, std::uint32_t length = 64, unsigned engine = 0,
                    std::uint64_t base = ring_at) {
        init_side(m2s, q, length, engine, base);
        init_side(s2m, q, length, engine, base);
    }
    void init_side(unsigned side, unsigned q, std::uint32_t length, unsigned engine = 0,
                   std::uint64_t base = ring_at) {
        const bool m = side == m2s;
        if (m) write(reg::m2s_q_rate_limit_mask, 3, q, engine);
        write(m ? reg::m2s_q_cfg : reg::s2m_q_cfg, 0x03000000, q, engine);
        write(m ? reg::m2s_q_sw_control : reg::s2m_q_sw_control, 0x100, q, engine);
        const std::uint64_t at = base + ring_offset(side, q, engine);
        write(m ? reg::m2s_q_base_lo : reg::s2m_q_base_lo, static_cast<std::uint32_t>(at), q,
              engine);
        write(m ? reg::m2s_q_base_hi : reg::s2m_q_base_hi, static_cast<std::uint32_t>(at >> 32), q,
              engine);
        write(m ? reg::m2s_q_length : reg::s2m_q_length, length, q, engine);
        write(m ? reg::m2s_q_completion_cfg : reg::s2m_q_completion_cfg, 0, q, engine);
        write(m ? reg::m2s_q_cfg : reg::s2m_q_cfg, 0x03030000, q, engine);
        ring& r = rings[engine][q][side];
        r = {at, length, 0, 1};
    }

    static constexpr std::uint32_t first = 1u << 26, last = 1u << 27, barrier = 1u << 30,
                                   interrupt = 1u << 28;
    /// Appends a descriptor; adds the ring id, and encodes a length of 64 KiB.
    void put(unsigned side, std::uint64_t address, std::uint32_t length, std::uint32_t flags,
             unsigned q = 0, unsigned engine = 0, std::uint32_t word_1 = 0x01080003) {
        ring& r = rings[engine][q][side];
        const std::array<std::uint32_t, 4> words{
            (length & 0xffff) | r.pass << 24 | flags, side == m2s ? word_1 : 0,
            static_cast<std::uint32_t>(address), static_cast<std::uint32_t>(address >> 32)};
        write_descriptor(r.base + r.next * 16ull, words);
        if (++r.next == r.length) {
            r.next = 0;
            r.pass = (r.pass + 1) & 3;
        }
    }
    /// One source and one destination descriptor of equal length.
    void put_copy(std::uint64_t from, std::uint64_t to, std::uint32_t length, unsigned q = 0,
                  unsigned engine = 0) {
        put(m2s, from, length, first | last, q, engine);
        put(s2m, to, length, 0, q, engine);
    }
    void doorbell(unsigned side, std::uint32_t count, unsigned q = 0, unsigned engine = 0) {
        write(side == m2s ? reg::m2s_q_tail_increment : reg::s2m_q_tail_increment, count, q,
              engine);
    }
    void ring_both(std::uint32_t count, unsigned q = 0, unsigned engine = 0) {
        doorbell(s2m, count, q, engine);
        doorbell(m2s, count, q, engine);
    }
    void fill(std::uint64_t address, std::size_t length, std::uint8_t seed) {
        for (std::size_t i = 0; i < length; ++i) at(address)[i] = pattern(i, seed);
        stack.accessed(tlm::TLM_WRITE_COMMAND, address, length);
    }
    bool filled(std::uint64_t address, std::size_t length, std::uint8_t seed) {
        for (std::size_t i = 0; i < length; ++i) {
            if (at(address)[i] != pattern(i, seed)) return false;
        }
        return true;
    }
    std::uint8_t* at(std::uint64_t address) {
        return (address & host_at) != 0 ? host.bytes().data() + (address - host_at)
                                        : stack.bytes().data() + address;
    }
    static void run(double ns) { sc_core::sc_start(sc_time(ns, sc_core::SC_NS)); }
    /// Index of the next descriptor to complete.
    std::uint32_t done(unsigned side, unsigned q = 0, unsigned engine = 0) {
        return read(side == m2s ? reg::m2s_q_current : reg::s2m_q_current, q, engine);
    }
    /// Index of the next descriptor to fetch.
    std::uint32_t head(unsigned side, unsigned q = 0, unsigned engine = 0) {
        return read(side == m2s ? reg::m2s_q_head : reg::s2m_q_head, q, engine);
    }

    /// true: software has mapped the rings, so put() stores descriptors without transactions.
    bool rings_are_mapped = false;

    tlm_driver cpu{"cpu"}, control{"control"};
    std::optional<memory_path> path;
    router bus{"bus", {}};
    hbm stack{"stack", {}};
    memory host{"host", {1ull << 30}};
    message_memory messages{"messages"};
    semaphore_target sems{"sems"};
    udma dma;
    std::array<irq_out, 2> reset_lines{irq_out("reset_0"), irq_out("reset_1")};

private:
    struct ring {
        std::uint64_t base;
        std::uint32_t length, next, pass;
    };
    static std::uint64_t ring_offset(unsigned side, unsigned q, unsigned engine) {
        return ((std::uint64_t{engine} * 16 + q) * 2 + side) << 20;
    }
    static std::uint8_t pattern(std::size_t i, std::uint8_t seed) {
        return static_cast<std::uint8_t>(i * 7 + (i >> 8) + seed);
    }
    void write_descriptor(std::uint64_t place, const std::array<std::uint32_t, 4>& words) {
        if (rings_are_mapped)
            std::memcpy(at(place), words.data(), sizeof words);
        else
            cpu.access(tlm::TLM_WRITE_COMMAND, place, const_cast<std::uint32_t*>(words.data()),
                       sizeof words);
    }
    ring rings[32][16][2] = {};
};

class DmaEngineTest : public testing::Test, public dma_bench {
protected:
    explicit DmaEngineTest(const udma::config& cfg = {}) : dma_bench(cfg) {}
    void SetUp() override { sc_core::sc_start(sc_core::SC_ZERO_TIME); }  // elaborates
};

}  // namespace trn::test
