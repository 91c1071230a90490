// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <vector>

#include "models/processor/riscv/execute/assemble.h"
#include "models/processor/riscv/hart/csrs.h"
#include "models/processor/riscv/hart/hart.h"

namespace trn::riscv::test {

/// A bus with one RAM and one device page whose accesses are recorded.
class flat_bus : public hart_bus {
public:
    static constexpr u64 ram_base = 0x8000'0000, device_base = 0x1000'0000;

    explicit flat_bus(u64 size = 1 << 20) : ram(size) {}

    std::vector<u8> ram;
    std::vector<std::pair<u64, u64>> device_writes;
    u64 device_value = 0;
    u64 now = 0;
    u64 wanted = 0;  ///< time of the last wake_at()
    unsigned direct_requests = 0;
    bool observed = false;       ///< stores to RAM have no host pointer
    bool shared = false;         ///< other processes can write RAM
    u64 direct_end = ~u64{0};    ///< RAM from here on has no host pointers
    bool refusals_pass = false;  ///< RAM without host pointers says that it is memory
    std::function<void()> on_device_access;
    std::function<void()> on_read;  ///< of RAM, by the bus

    bool inside(u64 pa, u64 size) const {
        return pa - ram_base < ram.size() && size <= ram.size() - (pa - ram_base);
    }
    bool read(u64 pa, std::span<u8> data) override {
        if (pa - device_base >= 4096) {
            if (on_read) on_read();
            return debug_read(pa, data);
        }
        if (on_device_access) on_device_access();
        std::memcpy(data.data(), &device_value, data.size());
        return true;
    }
    bool write(u64 pa, std::span<const u8> data) override {
        if (pa - device_base >= 4096) return debug_write(pa, data);
        u64 value = 0;
        std::memcpy(&value, data.data(), data.size());
        device_writes.emplace_back(pa, value);
        if (on_device_access) on_device_access();
        return true;
    }
    bool debug_read(u64 pa, std::span<u8> data) override {
        if (!inside(pa, data.size())) return false;
        std::memcpy(data.data(), &ram[pa - ram_base], data.size());
        return true;
    }
    bool debug_write(u64 pa, std::span<const u8> data) override {
        if (!inside(pa, data.size())) return false;
        std::memcpy(&ram[pa - ram_base], data.data(), data.size());
        return true;
    }
    std::optional<direct_memory> direct(u64 pa) override {
        ++direct_requests;
        if (!inside(pa, 1) || pa >= direct_end) return std::nullopt;
        const u64 end = std::min(ram_base + ram.size(), direct_end);
        return direct_memory{ram_base, end - 1, ram.data(), true, !observed, shared};
    }
    bool is_memory(u64 pa) override { return refusals_pass && inside(pa, 1); }
    u64 time() override { return now; }
    void wake_at(u64 time) override { wanted = time; }
};

/// Flags of page table entries.
enum pte : u64 { V = 1, R = 2, W = 4, X = 8, U = 16, A = 64, D = 128 };

/// A few encoders, named as the assembler names the instructions.
namespace as {
constexpr u32 r(u32 opcode, u32 f3, u32 f7, u32 rd, u32 rs1, u32 rs2) {
    return opcode | rd << 7 | f3 << 12 | rs1 << 15 | rs2 << 20 | f7 << 25;
}
constexpr u32 i(u32 opcode, u32 f3, u32 rd, u32 rs1, i32 imm) {
    return opcode | rd << 7 | f3 << 12 | rs1 << 15 | static_cast<u32>(imm) << 20;
}
constexpr u32 s(u32 f3, u32 rs1, u32 rs2, i32 imm) {
    return 0x23 | (static_cast<u32>(imm) & 31) << 7 | f3 << 12 | rs1 << 15 | rs2 << 20 |
           (static_cast<u32>(imm) >> 5) << 25;
}
constexpr u32 addi(u32 rd, u32 rs1, i32 imm) {
    return i(0x13, 0, rd, rs1, imm);
}
constexpr u32 add(u32 rd, u32 rs1, u32 rs2) {
    return r(0x33, 0, 0, rd, rs1, rs2);
}
constexpr u32 lui(u32 rd, u32 imm20) {
    return 0x37 | rd << 7 | imm20 << 12;
}
constexpr u32 auipc(u32 rd, u32 imm20) {
    return 0x17 | rd << 7 | imm20 << 12;
}
constexpr u32 ld(u32 rd, u32 rs1, i32 imm) {
    return i(0x03, 3, rd, rs1, imm);
}
constexpr u32 lw(u32 rd, u32 rs1, i32 imm) {
    return i(0x03, 2, rd, rs1, imm);
}
constexpr u32 sd(u32 rs2, u32 rs1, i32 imm) {
    return s(3, rs1, rs2, imm);
}
constexpr u32 sw(u32 rs2, u32 rs1, i32 imm) {
    return s(2, rs1, rs2, imm);
}
constexpr u32 jal(u32 rd, i32 offset) {
    const u32 o = static_cast<u32>(offset);
    return 0x6f | rd << 7 | (o >> 12 & 255) << 12 | (o >> 11 & 1) << 20 | (o >> 1 & 1023) << 21 |
           (o >> 20 & 1) << 31;
}
constexpr u32 jalr(u32 rd, u32 rs1, i32 imm) {
    return i(0x67, 0, rd, rs1, imm);
}
constexpr u32 bne(u32 rs1, u32 rs2, i32 offset) {
    const u32 o = static_cast<u32>(offset);
    return 0x1063 | (o >> 11 & 1) << 7 | (o >> 1 & 15) << 8 | rs1 << 15 | rs2 << 20 |
           (o >> 5 & 63) << 25 | (o >> 12 & 1) << 31;
}
constexpr u32 csrrw(u32 rd, u32 csr, u32 rs1) {
    return i(0x73, 1, rd, rs1, static_cast<i32>(csr));
}
constexpr u32 csrrs(u32 rd, u32 csr, u32 rs1) {
    return i(0x73, 2, rd, rs1, static_cast<i32>(csr));
}
constexpr u32 csrrc(u32 rd, u32 csr, u32 rs1) {
    return i(0x73, 3, rd, rs1, static_cast<i32>(csr));
}
constexpr u32 ecall = 0x73, ebreak = 0x100073, mret = 0x30200073, sret = 0x10200073,
              wfi = 0x10500073, fence_i = 0x100f, sfence_vma = 0x12000073, nop = 0x13;
}  // namespace as

/// A hart with a program at the start of RAM, in M mode, and mtvec at `handler`.
class RiscvTest : public testing::Test {
protected:
    static constexpr u64 base = flat_bus::ram_base;
    static constexpr u64 handler = base + 0x800;

    flat_bus memory;
    std::shared_ptr<code_cache> code = make_code_cache();
    std::unique_ptr<hart> h = make();

    std::unique_ptr<hart> make(isa extensions = isa::usual()) {
        auto made = std::make_unique<hart>(hart::config{0, extensions, base}, memory, code);
        EXPECT_TRUE(made->write_csr(0x305, handler));
        put(handler, {as::jal(0, 0)});  // a handler that loops
        return made;
    }
    void put(u64 address, std::initializer_list<u32> words) {
        for (const u32 word : words) {
            std::memcpy(&memory.ram[address - base], &word, 4);
            address += 4;
        }
    }
    template <typename T>
    void poke(u64 address, T value) {
        std::memcpy(&memory.ram[address - base], &value, sizeof value);
    }
    template <typename T = u64>
    T peek(u64 address) {
        T value;
        std::memcpy(&value, &memory.ram[address - base], sizeof value);
        return value;
    }
    u64 csr(const char* name) {
        for (const auto& entry : csr_list())
            if (entry.name == name) return *h->read_csr(entry.number);
        ADD_FAILURE() << "no CSR " << name;
        return 0;
    }
    /// Executes exactly `count` instructions.
    void step(unsigned count = 1) {
        for (unsigned i = 0; i < count; ++i) {
            h->resume(true);
            h->run(1);
        }
        h->resume();
    }
};

}  // namespace trn::riscv::test
