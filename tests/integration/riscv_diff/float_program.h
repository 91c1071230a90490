// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace trn::riscv::test {

/// A program for the machines of machines.h that executes F and D instructions with chosen operands
/// and prints each result.
class float_program {
public:
    /// The output for one vector.
    struct outcome {
        std::uint64_t f, x, fcsr, stored, stored_high;
    };
    static constexpr unsigned vectors = 6000;

    explicit float_program(std::uint64_t seed);

    std::vector<std::uint8_t> image;
    /// One instruction with its operands, as text.
    std::string describe(unsigned vector) const;

private:
    /// Operands in the order in which the program loads them: f8 to f10, x12, fcsr.
    struct operands {
        std::array<std::uint64_t, 3> f;
        std::uint64_t x, fcsr;
    };
    struct vector {
        std::string name;
        std::uint32_t bits;
        operands in;
    };

    std::uint64_t next();
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }
    template <typename F, typename Host>
    F number();
    template <typename F, typename Host>
    void choose_numbers(std::array<std::uint64_t, 3>& f);
    std::uint64_t integer();
    vector choose();
    vector choose_compressed();

    void begin();
    void add(const vector& v);
    void end();
    void emit(std::uint32_t word);

    std::uint64_t state_;
    std::uint64_t at_ = 0;
    std::vector<vector> vectors_;
};

}  // namespace trn::riscv::test
