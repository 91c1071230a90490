// SPDX-License-Identifier: Apache-2.0
// Random instructions that pass the checks are executed: accesses stay within the core's memory.
#include "tests/unit/neuron_core/engines/engine_fixture.h"

namespace {

using namespace trn;
using namespace trn::test;

class RandomInstructionsTest : public EngineTest {
protected:
    unsigned below(unsigned n) { return static_cast<unsigned>(random() % n); }
    template <class T>
    T one_of(std::initializer_list<T> list) {
        return *(list.begin() + below(static_cast<unsigned>(list.size())));
    }

    tile_operand any_tile(isa::space where, unsigned partitions, unsigned elements) {
        const auto type = static_cast<element>(below(3) == 0 ? below(20) : below(14));
        const std::uint32_t size = numerics::size_of(type), step = std::max(4u, size);
        auto t = row(type, below(2) * 64, below(1000) * step, partitions, elements, where);
        if (partitions > 64) t.place.partition = 0;
        if (below(4) == 0) {
            t.indirect = true;
            t.index = {isa::space::sbuf, t.place.partition, below(100) * 4};
        } else if (elements % 2 == 0 && below(2) == 0) {
            t.dimensions = 2;
            t.pattern[0] = {static_cast<std::int16_t>(static_cast<int>(below(5)) - 2),
                            static_cast<std::uint16_t>(elements / 2)};
            t.pattern[1] = {static_cast<std::int16_t>(static_cast<int>(below(400)) - 200), 2};
        }
        return t;
    }
    scalar_operand any_scalar() {
        if (below(3) == 0) return column(static_cast<element>(below(14)), 0, below(1000) * 4);
        if (below(2) == 0) return constant(float_of(static_cast<std::uint32_t>(random())));
        return integer(static_cast<std::int32_t>(below(60)));
    }
    instruction any(const isa::row& kind) {
        instruction i = make(kind.opcode);
        const unsigned partitions = one_of({1u, 16u, 32u, 64u, 96u, 128u});
        const unsigned elements = one_of({1u, 2u, 6u, 8u, 24u, 32u, 40u});
        const auto space = [&] { return below(4) == 0 ? isa::space::psum : isa::space::sbuf; };
        if (below(2) == 0) i.op0 = static_cast<std::uint8_t>(below(40));
        if (below(2) == 0) i.op1 = static_cast<std::uint8_t>(below(40));
        if (below(2) == 0) i.reduce_op = static_cast<std::uint8_t>(below(6));
        if (below(2) == 0) i.reduce_cmd = static_cast<std::uint8_t>(below(5));
        if (below(2) == 0) i.mode = static_cast<std::uint16_t>(kind.modes & random());
        if (kind.uses_subdim) i.subdim = static_cast<std::uint8_t>(1 + below(2));
        if (kind.uses_tile && below(3) == 0) i.tile = static_cast<std::uint8_t>(random());
        i.imm = one_of({0u, 0u, 1u, 2u, 4u, 8u, 16u, static_cast<std::uint32_t>(random())});
        for (auto& m : i.shuffle) m = static_cast<std::uint8_t>(below(32));
        i.pattern = {5, 1, {1, 2, 3, 4}, {static_cast<std::uint16_t>(elements), 1, 1, 1}};
        if (kind.layout != isa::layout::tiles_shuffle) i.shuffle = {};
        if (kind.layout != isa::layout::tiles_pattern) i.pattern = {};
        const auto wanted = [&](isa::need n) {
            return n == isa::need::required || (n == isa::need::optional && below(2) == 0);
        };
        const auto same = below(2) == 0;
        if (wanted(kind.dst.need))
            i.dst = any_tile(kind.opcode == opcode::multiply ? isa::space::psum : space(),
                             partitions, elements);
        if (wanted(kind.a.need)) i.a = any_tile(space(), partitions, elements);
        if (kind.layout == isa::layout::tiles && (wanted(kind.b.need) || below(3) == 0))
            i.b = any_tile(space(), below(3) == 0 ? 4 : partitions, one_of({1u, 2u, 8u, elements}));
        if (same && i.a.present()) i.dst.type = i.a.type;
        const auto at = [&](tile_operand& t, unsigned n, unsigned count) {
            if (!t.present() || t.indirect) return;
            t = row(t.type, t.place.partition, t.place.offset, n, count, t.place.space);
        };
        if (below(2) == 0) {  // shapes that match the row
            switch (kind.shape) {
            case isa::shape::bn_stats:
                at(i.dst, partitions, 6);
                break;
            case isa::shape::bn_aggr:
                at(i.dst, partitions, 2);
                break;
            case isa::shape::max8:
            case isa::shape::find_index8:
                at(i.dst, partitions, 8);
                break;
            case isa::shape::match_load:
                at(i.a, partitions, 8);
                break;
            case isa::shape::rng_state:
                at(i.a, partitions, 24), at(i.dst, partitions, 24);
                break;
            case isa::shape::quantize_mx:
                at(i.a, partitions, 4 * elements);
                break;
            case isa::shape::partition_reduce:
                at(i.dst, 1, elements);
                break;
            case isa::shape::nonzero_count:
                at(i.dst, partitions, elements + 1);
                break;
            case isa::shape::multiply:
                at(i.dst, one_of({1u, 8u, 32u}), elements);
                break;
            case isa::shape::column:
                at(i.dst, partitions, 1);
                break;
            default:
                break;
            }
        }
        if (wanted(kind.s0.need)) i.s0 = any_scalar();
        if (wanted(kind.s1.need)) i.s1 = any_scalar();
        return i;
    }
};

TEST_F(RandomInstructionsTest, EveryCheckedInstructionEndsOrFailsWithoutWriting) {
    for (std::size_t i = 0; i + 4 <= memory.sbuf_.size(); i += 4) {  // valid indices
        const auto value = static_cast<std::uint32_t>(random() % 300);
        std::memcpy(&memory.sbuf_[i], &value, 4);
    }
    std::map<opcode, unsigned> executed;
    unsigned failed = 0;
    for (const isa::row& kind : isa::table()) {
        if (!kind.is_tiles() || kind.number < 21) continue;
        for (int attempt = 0; attempt < 3000; ++attempt) {
            // Encoding drops values that do not fit into the instruction's fields.
            const instruction i = isa::decode(isa::encode(any(kind))).value;
            isa::data_path* const engines[] = {&tensor, &scalar, &gpsimd, &vector};
            const auto which = static_cast<isa::engine>(below(4));
            if (!kind.runs_on(which, isa::generation::v4)) continue;
            last = {};
            const std::uint64_t before = memory.written_bytes;
            const auto f = run(*engines[static_cast<unsigned>(which)], i);
            if (f) {
                ASSERT_EQ(memory.written_bytes, before);
                failed += last.fault ? 1 : 0;
            } else {
                ++executed[kind.opcode];
            }
        }
    }
    EXPECT_GT(executed.size(), 30u) << "too few kinds of instructions passed the checks";
    EXPECT_GT(failed, 100u) << "indices and stationaries fail in the engine";
}

}  // namespace
