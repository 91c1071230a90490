// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "models/neuron_core/engines/gpsimd_engine.h"
#include "models/neuron_core/engines/scalar_engine.h"
#include "models/neuron_core/engines/tensor_engine.h"
#include "models/neuron_core/engines/vector_engine.h"
#include "models/neuron_isa/instructions/codec.h"
#include "tests/unit/neuron_isa/numerics/reference.h"

namespace trn::test {

using isa::dimension;
using isa::instruction;
using isa::opcode;
using isa::scalar_kind;
using isa::scalar_operand;
using isa::tile_operand;
using numerics::alu;
using numerics::element;
namespace mode = isa::mode;

inline float float_of(std::uint32_t bits) {
    return std::bit_cast<float>(bits);
}
inline std::uint32_t bits_of(float x) {
    return std::bit_cast<std::uint32_t>(x);
}
inline constexpr std::uint32_t canonical_nan = 0x7fc00000;
inline const float infinity = std::numeric_limits<float>::infinity();

/// SBUF and PSUM with small partitions and configurable uncorrectable words.
class plain_memory final : public isa::core_memory {
public:
    static constexpr std::uint32_t sbuf_pitch = 32768, psum_pitch = 16384;

    plain_memory() : sbuf_(128 * sbuf_pitch, 0xa5), psum_(128 * psum_pitch, 0xa5) {}
    std::uint8_t* bytes(isa::space s) override {
        return (s == isa::space::psum ? psum_ : sbuf_).data();
    }
    std::uint32_t partition_bytes(isa::space s) const override {
        return s == isa::space::psum ? psum_pitch : sbuf_pitch;
    }
    bool has_errors() const override { return !broken.empty(); }
    bool check_read(isa::location first, std::uint32_t length) override {
        for (const auto& [partition, offset] : broken)
            if (partition == first.partition && offset >= first.offset &&
                offset < first.offset + length)
                return false;
        return true;
    }
    void written(isa::location, std::uint32_t length) override { written_bytes += length; }

    std::set<std::pair<unsigned, std::uint32_t>> broken;
    std::uint64_t written_bytes = 0;
    std::vector<std::uint8_t> sbuf_, psum_;
};

/// The value of an element's code, from the tables of the numerics tests.
inline float decoded(element type, std::uint32_t code) {
    for (const float_format& f : narrow_formats)
        if (f.type == type) {
            const std::uint32_t magnitude = code & (f.magnitudes() - 1);
            const bool minus = (code & f.magnitudes()) != 0;
            float x = std::numeric_limits<float>::quiet_NaN();
            if (f.finite(magnitude)) x = static_cast<float>(f.value(magnitude));
            if (f.has_infinity && magnitude == f.infinity()) x = infinity;
            return minus ? -x : x;
        }
    switch (type) {
    case element::fp32:
        return float_of(code);
    case element::tf32:
        return std::isnan(float_of(code)) ? float_of(canonical_nan) : float_of(code & ~0x1fffu);
    case element::int8:
        return static_cast<std::int8_t>(code);
    case element::int16:
        return static_cast<std::int16_t>(code);
    case element::int32:
        return static_cast<float>(static_cast<std::int32_t>(code));
    default:
        return static_cast<float>(code);
    }
}

/// The code nearest to an FP32 value; NaNs are canonical.
inline std::uint32_t encoded(element type, float x, bool saturate = false,
                             const std::uint32_t* random = nullptr) {
    if (type == element::fp32) return std::isnan(x) ? canonical_nan : bits_of(x);
    for (const integer_format& f : integer_formats)
        if (f.type == type) {
            if (std::isnan(x)) return 0;
            const double whole = std::clamp(std::nearbyint(double{x}), f.least, f.most);
            const auto bits = static_cast<std::uint32_t>(static_cast<std::int64_t>(whole));
            return bits & (~0u >> (32 - 8 * numerics::size_of(type)));
        }
    if (type == element::tf32) {  // rounds up when the removed bits require it
        if (std::isnan(x)) return canonical_nan;
        const std::uint32_t bits = bits_of(x), rest = bits & 0x1fff;
        const bool up = random != nullptr
                            ? (rest << 19) > *random
                            : rest > 0x1000 || (rest == 0x1000 && (bits & 0x2000) != 0);
        return std::isinf(x) ? bits : (bits & ~0x1fffu) + (up ? 0x2000 : 0);
    }
    for (const float_format& f : narrow_formats)
        if (f.type == type) {
            static std::map<element, neighbours> tables;
            const neighbours& all = tables.try_emplace(type, f).first->second;
            if (std::isnan(x))
                return f.has_infinity ? f.infinity() | 1u << (f.mantissa_bits - 1) : f.overflow();
            return all.round(x, saturate, random) | (std::signbit(x) ? f.magnitudes() : 0);
        }
    ADD_FAILURE() << "no such type";
    return 0;
}

inline const std::vector<element> computed_types = [] {
    std::vector<element> all;
    for (unsigned t = 0; t < numerics::element_kinds; ++t) all.push_back(static_cast<element>(t));
    return all;
}();

/// Executes an engine's instructions after the sequencer's checks.
class EngineTest : public testing::Test {
protected:
    std::mt19937 random{1};
    plain_memory memory;
    isa::number_settings numbers;
    isa::generation generation = isa::generation::v4;

    tensor_engine tensor{memory, isa::generation::v4};
    scalar_engine scalar{memory, isa::generation::v4};
    gpsimd_engine gpsimd{memory, isa::generation::v4};
    vector_engine vector{memory, isa::generation::v4};
    isa::outcome last;

    /// A tile of contiguous elements in `partitions` partitions.
    static tile_operand tile(element type, unsigned partition, std::uint32_t offset,
                             unsigned partitions, std::vector<dimension> dims,
                             isa::space where = isa::space::sbuf) {
        tile_operand t;
        t.place = {where, static_cast<std::uint8_t>(partition), offset};
        t.type = type;
        t.partitions = static_cast<std::uint16_t>(partitions);
        t.dimensions = static_cast<std::uint8_t>(dims.size());
        std::ranges::copy(dims, t.pattern.begin());
        return t;
    }
    static tile_operand row(element type, unsigned partition, std::uint32_t offset,
                            unsigned partitions, std::size_t n,
                            isa::space where = isa::space::sbuf) {
        return tile(type, partition, offset, partitions, {{1, static_cast<std::uint16_t>(n)}},
                    where);
    }
    static scalar_operand constant(float x) { return {scalar_kind::fp32, {}, 0, bits_of(x), {}}; }
    static scalar_operand integer(std::int32_t x) {
        return {scalar_kind::i32, {}, 0, static_cast<std::uint32_t>(x), {}};
    }
    static scalar_operand column(element type, unsigned partition, std::uint32_t offset) {
        return {scalar_kind::tile,
                type,
                0,
                0,
                {isa::space::sbuf, static_cast<std::uint8_t>(partition), offset}};
    }
    static instruction make(opcode o, alu op0 = alu::bypass, alu op1 = alu::bypass) {
        instruction i;
        i.opcode = o;
        i.flags = isa::flag::long_form;
        i.op0 = static_cast<std::uint8_t>(op0);
        i.op1 = static_cast<std::uint8_t>(op1);
        i.pattern.counts = {1, 1, 1, 1};
        return i;
    }

    std::optional<isa::fault> run(isa::data_path& engine, const instruction& i) {
        isa::decoded d{i, isa::find(i.opcode)};
        const isa::engine which = &engine == &tensor   ? isa::engine::tensor
                                  : &engine == &scalar ? isa::engine::scalar
                                  : &engine == &gpsimd ? isa::engine::gpsimd
                                                       : isa::engine::vector;
        static constexpr std::array<std::uint32_t, isa::register_count> registers{};
        if (const auto f = isa::check(d, {which, generation, plain_memory::sbuf_pitch}, registers))
            return f;
        last = engine.execute(d.value, numbers);
        return last.fault;
    }
    void run_ok(isa::data_path& engine, const instruction& i) {
        const auto f = run(engine, i);
        ASSERT_FALSE(f) << isa::name_of(f->code) << ", operand " << static_cast<int>(f->operand)
                        << ", detail " << f->detail;
    }

    // The address of an element by the formula of spec 2.3.
    std::uint8_t* byte(const tile_operand& t, unsigned p, std::size_t index) {
        std::int64_t elements = 0;
        for (unsigned d = 0; d < t.dimensions; ++d) {
            elements += static_cast<std::int64_t>(index % t.pattern[d].count) * t.pattern[d].stride;
            index /= t.pattern[d].count;
        }
        return memory.bytes(t.place.space) +
               (t.place.partition + p) * memory.partition_bytes(t.place.space) + t.place.offset +
               elements * numerics::size_of(t.type);
    }
    std::uint32_t code(const tile_operand& t, unsigned p, std::size_t index) {
        std::uint32_t value = 0;
        std::memcpy(&value, byte(t, p, index), std::min(4u, numerics::size_of(t.type)));
        return value;
    }
    float value(const tile_operand& t, unsigned p, std::size_t index) {
        return decoded(t.type, code(t, p, index));
    }
    void set(const tile_operand& t, unsigned p, std::size_t index, std::uint32_t bits) {
        std::memcpy(byte(t, p, index), &bits, std::min(4u, numerics::size_of(t.type)));
    }
    void set(const tile_operand& t, unsigned p, const std::vector<float>& values) {
        for (std::size_t i = 0; i < values.size(); ++i) set(t, p, i, encoded(t.type, values[i]));
    }
    std::vector<float> values(const tile_operand& t, unsigned p) {
        std::vector<float> all;
        for (std::size_t i = 0; i < t.elements(); ++i) all.push_back(value(t, p, i));
        return all;
    }
    /// Fills a tile with random bits, which include NaNs, infinities and subnormals.
    void fill(const tile_operand& t) {
        for (unsigned p = 0; p < t.partitions; ++p)
            for (std::size_t i = 0; i < t.elements(); ++i)
                set(t, p, i, static_cast<std::uint32_t>(random()));
    }
    /// Fills a tile with multiples of 1/8 between -8 and 8.
    void fill_small(const tile_operand& t) {
        for (unsigned p = 0; p < t.partitions; ++p)
            for (std::size_t i = 0; i < t.elements(); ++i)
                set(t, p, i, encoded(t.type, static_cast<float>(random() % 129) / 8 - 8));
    }

    /// Checks that every element of `t` has the code want(partition, index).
    void expect_codes(const tile_operand& t,
                      const std::function<std::uint32_t(unsigned, std::size_t)>& want) {
        for (unsigned p = 0; p < t.partitions; ++p)
            for (std::size_t i = 0; i < t.elements(); ++i)
                ASSERT_EQ(code(t, p, i), want(p, i))
                    << std::hex << "partition " << p << ", element " << i << ", type "
                    << static_cast<int>(t.type);
    }
    void expect_values(const tile_operand& t,
                       const std::function<float(unsigned, std::size_t)>& want) {
        expect_codes(t, [&](unsigned p, std::size_t i) { return encoded(t.type, want(p, i)); });
    }
    /// Checks that the instruction fails with `code`, and that SBUF and PSUM are unchanged.
    void expect_refused(isa::data_path& engine, const instruction& i, isa::error code,
                        isa::operand which) {
        const auto sbuf = memory.sbuf_, psum = memory.psum_;
        const auto f = run(engine, i);
        ASSERT_TRUE(f);
        EXPECT_EQ(f->code, code);
        EXPECT_EQ(f->operand, which);
        EXPECT_TRUE(sbuf == memory.sbuf_ && psum == memory.psum_) << "something was written";
    }
};

}  // namespace trn::test
