// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/execute/fuse.h"

#include <unordered_map>

#include "models/processor/riscv/execute/alu.h"
#include "models/processor/riscv/execute/threaded.h"

namespace trn::riscv {

namespace {

using namespace alu;
using enum source;

template <typename... S>
struct list {};

/// Fused functions by the functions that they replace.
class table {
public:
    handler find(handler first, handler second) const { return get(pairs_, first, second); }
    handler find(handler first, handler second, handler third) const {
        const auto found = starts_.find(first);
        return found == starts_.end() ? nullptr : get(found->second, second, third);
    }

    template <typename First, typename Second>
    void add_pair() {
        add(single<First>, single<Second>, pair<First, Second>);
    }
    template <typename First, typename Test>
    void add_branch() {
        add(single<First>, branch<Test>, step_and_branch<First, Test>);
    }
    template <typename First, typename Second, typename Third>
    void add_triple() {
        add(single<First>, single<Second>, single<Third>, triple<First, Second, Third>);
    }

    template <typename First, typename... Second>
    void add_pairs_from(list<Second...>) {
        (add_pair<First, Second>(), ...);
    }
    template <typename... First, typename Seconds>
    void add_pairs(list<First...>, Seconds seconds) {
        (add_pairs_from<First>(seconds), ...);
    }
    template <typename First, typename... Test>
    void add_branches_from(list<Test...>) {
        (add_branch<First, Test>(), ...);
    }
    template <typename... First, typename Tests>
    void add_branches(list<First...>, Tests tests) {
        (add_branches_from<First>(tests), ...);
    }

private:
    using by_second = std::unordered_map<handler, handler>;
    using by_first = std::unordered_map<handler, by_second>;

    // Not inlined: inlining more than a thousand calls would multiply the compile time.
    [[gnu::noinline]] void add(handler first, handler second, handler fused) {
        pairs_[first][second] = fused;
    }
    [[gnu::noinline]] void add(handler first, handler second, handler third, handler fused) {
        starts_[first][second][third] = fused;
    }

    static handler get(const by_first& map, handler first, handler second) {
        const auto row = map.find(first);
        if (row == map.end()) return nullptr;
        const auto cell = row->second.find(second);
        return cell == row->second.end() ? nullptr : cell->second;
    }

    by_first pairs_;
    std::unordered_map<handler, by_first> starts_;
};

template <binary F>
using imm_x = register_immediate<F, x>;
template <binary F>
using imm_acc = register_immediate<F, acc>;
template <binary F>
using reg_xx = register_register<F, x, x>;
template <binary F>
using reg_ax = register_register<F, acc, x>;
template <binary F>
using reg_xa = register_register<F, x, acc>;
using move_x = one_register<move, x>;

table make_table() {
    table t;
    // First operations of pairs: cheap and frequent ones.
    using starts = list<imm_x<add>, imm_acc<add>, imm_x<addw>, imm_acc<addw>, imm_x<sll>,
                        imm_acc<sll>, imm_x<srl>, imm_x<and_>, imm_acc<and_>, reg_xx<add>,
                        reg_ax<add>, reg_xa<add>, reg_xx<addw>, reg_xx<xor_>, reg_xx<and_>,
                        reg_xx<sub>, move_x, constant, load<i32, x>, load<i64, x>, load<u8, x>,
                        load<u16, x>, load<u32, x>, load<i32, acc>, load<i64, acc>, load<u8, acc>>;
    using seconds =
        list<imm_x<add>, imm_acc<add>, imm_x<addw>, imm_acc<addw>, imm_x<sll>, imm_acc<sll>,
             imm_acc<srl>, imm_acc<and_>, imm_x<and_>, reg_xx<add>, reg_ax<add>, reg_xa<add>,
             reg_ax<addw>, reg_ax<xor_>, reg_xa<xor_>, reg_xx<and_>, reg_ax<and_>, reg_xx<sub>,
             reg_ax<sub>, reg_ax<or_>, reg_xa<or_>, move_x, load<i32, x>, load<i64, x>, load<u8, x>,
             load<i32, acc>, load<i64, acc>, load<u8, acc>, load<u16, acc>, load<u32, acc>,
             store<u64, x, x>, store<u64, x, acc>, store<u64, acc, x>, store<u32, x, x>,
             store<u32, x, acc>, store<u32, acc, x>>;
    t.add_pairs(starts{}, seconds{});
    t.add_pairs(list<store<u64, x, x>, store<u32, x, x>, store<u32, x, acc>, store<u64, x, acc>>{},
                list<store<u64, x, x>, store<u32, x, x>, imm_x<add>, imm_x<addw>, load<i64, x>,
                     load<i32, x>>{});

    using tests = list<test<eq, x, x>, test<eq, acc, x>, test<ne, x, x>, test<ne, acc, x>,
                       test<ne, x, acc>, test<lt, x, x>, test<lt, acc, x>, test<ge, x, x>,
                       test<ge, acc, x>, test<ltu, x, x>, test<ltu, acc, x>, test<ltu, x, acc>,
                       test<geu, x, x>, test<geu, acc, x>, test<geu, x, acc>>;
    t.add_branches(starts{}, tests{});

    // Access to an array element.
    t.add_triple<imm_x<sll>, reg_ax<add>, load<i32, acc>>();
    t.add_triple<imm_x<sll>, reg_xa<add>, load<i32, acc>>();
    t.add_triple<imm_x<sll>, reg_ax<add>, load<i64, acc>>();
    t.add_triple<imm_x<sll>, reg_xa<add>, load<i64, acc>>();
    t.add_triple<imm_acc<sll>, reg_ax<add>, load<i32, acc>>();
    t.add_triple<imm_acc<sll>, reg_xa<add>, load<i32, acc>>();
    t.add_triple<imm_acc<sll>, reg_ax<add>, load<i64, acc>>();
    t.add_triple<imm_acc<sll>, reg_xa<add>, load<i64, acc>>();
    return t;
}

const table& fused() {
    static const table t = make_table();
    return t;
}

}  // namespace

void fuse(std::span<op> block) {
    for (std::size_t i = 0; i + 1 < block.size(); ++i) {
        const handler first = block[i].run, second = block[i + 1].run;
        if (i + 2 < block.size())
            if (const handler three = fused().find(first, second, block[i + 2].run)) {
                block[i].run = three;
                i += 2;
                continue;
            }
        if (const handler two = fused().find(first, second)) {
            block[i].run = two;
            ++i;
        }
    }
}

}  // namespace trn::riscv
