// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/framework/loader/elf.h"

namespace trn::riscv::test {

/// The monitor (monitor.S) filled with random code, data, page tables and protection.
struct random_program {
    static constexpr std::uint64_t base = 0x8000'0000, size = 0x4'0000;  ///< of the image

    random_program(const elf_program& monitor, std::uint64_t seed);

    std::vector<std::uint8_t> image;

private:
    std::uint64_t next();
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }
    template <typename T>
    void put(std::uint64_t address, T value);

    void make_parameters(const elf_program& monitor);
    void make_tables(std::uint64_t at);
    void map(std::uint64_t tables, std::uint64_t va, std::uint64_t pa, std::uint64_t flags);
    struct piece {
        std::uint32_t bits, length;
        std::uint64_t skips = 0;  ///< branch or jump: number of pieces to its target
    };
    void make_code();
    piece random_piece();
    void lay_out(const std::vector<piece>& pieces, std::uint64_t at);
    std::uint32_t instruction();
    std::uint32_t compressed();
    std::uint32_t csr_instruction();
    std::uint32_t control_instruction();
    unsigned any_register() { return static_cast<unsigned>(below(32)); }
    unsigned target_register();

    std::uint64_t state_;
    std::uint64_t next_table_ = 0;
    bool protected_ = false;
    bool aligned_ = true;  ///< alignment of the chunk's data pointer
};

}  // namespace trn::riscv::test
