// SPDX-License-Identifier: Apache-2.0
// Assembles decoded instructions to blocks of operations. A back end (back_end.h) may translate the
// blocks to host code.
#include "models/processor/riscv/execute/assemble.h"

#include <algorithm>
#include <cstring>

#include "models/processor/riscv/execute/alu.h"
#include "models/processor/riscv/execute/first_executions.h"
#include "models/processor/riscv/execute/fuse.h"
#include "models/processor/riscv/execute/threaded.h"

namespace trn::riscv {

namespace {

constexpr unsigned max_instructions = 64, max_slots = 220, max_followed = 8;
constexpr u8 nowhere = 32;       // x0 as a destination
constexpr u8 no_register = 255;  // acc holds no register's value

fault misaligned_jump(hart& h, const op& o) {
    return {cause::fetch_misaligned, h.pc_of(&o) + static_cast<u64>(i64{o.imm})};
}

/// Without C a target that is not a multiple of 4 is reported on the jump, before its effect
/// (Unpriv. 2.5).
fault aligned_jump_register(hart& h, const op& o) {
    const u64 target = (h.x[o.rs1] + static_cast<u64>(i64{o.imm})) & ~u64{1};
    if ((target & 2) != 0) return {cause::fetch_misaligned, target};
    h.x[o.rd] = h.exec.next_pc;
    h.exec.next_pc = target;
    return {};
}

class assembler {
public:
    assembler(block& b, u32 offset, isa extensions) : b_(b), isa_(extensions), offset_(offset) {
        b_.ops.clear();
        b_.slots.clear();
        b_.start = static_cast<u16>(offset);
        b_.ops.push_back({});
        b_.ops[0].home = &b_;
    }

    /// Adds the instruction at offset(); returns false if it ends the block.
    bool add(const decoded& d) {
        bits_ = d.bits;
        next_ = offset_ + d.length();
        record(d);
        const u8 before = link_.reg;
        const bool more = emit(d);
        if (d.rd == before && !linked_) link_ = {};
        linked_ = false;
        ++count_;
        jumped_ = next_ != offset_ + d.length();
        offset_ = next_;
        return more;
    }

    /// Adds the report of a function that begins at offset(), if execution arrived there by a jump.
    void enter(const code_page& page) {
        if (jumped_ && page.function(offset_) != nullptr) push(enter_function, 0, {});
    }

    u32 offset() const { return offset_; }
    bool full() const { return count_ >= max_instructions || b_.ops.size() >= max_slots; }
    bool empty() const { return count_ == 0; }

    /// Ends the block; execution continues at offset() in another block.
    void end() { emit_link(end_of_block, 0, {0, 0, count_}, offset_); }
    void step_alone() { push(step_here, 0, {}); }

    /// Pointers into the operations are valid only after the last one has been added.
    void finish() {
        const std::span ops(b_.ops.data() + 1, b_.ops.size() - 1);
        if (b_.unseen) b_.unseen->alone = functions(ops);
        if (b_.owner != nullptr && b_.owner->has_back_end()) b_.alone = functions(ops);
        fuse(ops);
        if (b_.unseen) {
            b_.unseen->fused = functions(ops);
            for (op& o : ops)
                if (o.run != nullptr) o.run = first_time;
        }
        for (const std::size_t link : links_) b_.ops[link].taken = &b_.ops[link + 1];
    }

    bool follow_jumps = true;

private:
    /// Registers an instruction's coverage marks with its operation, or with the next one if it has
    /// none. A conditional branch's links follow it; the stub that runs when it is taken and the
    /// operation that runs when it is not get separate marks.
    void record(const decoded& d) {
        u8* const marks = b_.owner == nullptr ? nullptr : b_.owner->marks(offset_, d.bits);
        if (marks == nullptr) return;
        if (!b_.unseen) b_.unseen = std::make_unique<first_executions>();
        const auto slot = static_cast<u32>(b_.slots.size());
        auto& places = b_.unseen->places;
        places.push_back({slot, marks, coverage::ran});
        if (d.definition == nullptr || d.definition->then != flow::branch) return;
        places.push_back({slot + 2, marks, coverage::taken});
        places.push_back({slot + 3, marks, coverage::passed});
    }
    static std::vector<handler> functions(std::span<const op> ops) {
        std::vector<handler> all;
        all.reserve(ops.size());
        for (const op& o : ops) all.push_back(o.run);
        return all;
    }

    struct registers {
        u8 rd = 0, rs1 = 0, rs2 = 0;
    };

    op& push(handler run, i32 imm, registers r) {
        op o{};
        o.run = run;
        o.imm = imm;
        o.rd = r.rd;
        o.rs1 = r.rs1;
        o.rs2 = r.rs2;
        o.slot = static_cast<u8>(b_.slots.size());
        b_.ops.push_back(o);
        b_.slots.push_back({bits_, static_cast<u16>(offset_), count_, in_acc_});
        return b_.ops.back();
    }

    /// Adds an operation that leaves for `target` (offset from the page), with its link and stub.
    void emit_link(handler run, i32 imm, registers r, u32 target) {
        push(run, imm, r);
        links_.push_back(b_.ops.size());
        push(nullptr, 0, {});
        const bool misaligned = (target & 2) != 0 && !isa_.has(extension::c);
        const handler stub = misaligned                 ? link_misaligned
                             : target < code_page::size ? link_near
                                                        : link_far;
        push(stub, static_cast<i32>(target), {});
    }

    bool emit(const decoded& d) {
        if (d.definition == nullptr) {
            push(illegal, 0, {});
            return false;
        }
        switch (d.definition->then) {
        case flow::result:
            result(d);
            return true;
        case flow::store:
            push(pick(d), d.imm, {0, d.rs1, d.rs2});
            return true;
        case flow::other:
            push(d.definition->run[0], d.imm, {destination(d), d.rs1, d.rs2});
            in_acc_ = no_register;
            return true;
        case flow::branch:
            emit_link(pick(d), 0, {through_here(), d.rs1, d.rs2}, target(d));
            return true;
        case flow::jump:
            return jump(d);
        case flow::jump_register: {
            if (d.rd == 0 && d.imm == 0 && d.rs1 == link_.reg && follow(link_.offset)) {
                next_ = link_.offset;  // the return address of a followed call
                return true;
            }
            const handler run = isa_.has(extension::c) ? pick(d) : system<aligned_jump_register>;
            push(run, d.imm, {destination(d), d.rs1, through_here()});
            push(nullptr, static_cast<i32>(next_), {});
            return false;
        }
        case flow::leave:
            push(d.definition->run[0], d.imm, {destination(d), d.rs1, through_here()});
            return false;
        }
        return false;
    }

    void result(const decoded& d) {
        const u8 rd = destination(d);
        const bool is_load = (d.definition->match & 0x7f) == 0x03;
        if (rd == nowhere && !is_load) return;  // a hint: no effect
        const std::string_view name = d.definition->name;
        if (name == "lui" || (name == "addi" && d.rs1 == 0)) {
            push(single<constant>, d.imm, {rd, 0, 0});
        } else if (name == "auipc") {
            push(add_upper_to_pc, d.imm + static_cast<i32>(offset_), {rd, 0, 0});
        } else if (name == "addi" && d.imm == 0) {
            push(unaries<alu::move>[from_acc(d.rs1)], 0, { rd, d.rs1, 0 });
        } else if (name == "add" && d.rs1 == 0) {
            push(unaries<alu::move>[from_acc(d.rs2)], 0, { rd, d.rs2, 0 });
        } else {
            push(pick(d), d.imm, {rd, d.rs1, d.rs2});
        }
        in_acc_ = rd == nowhere ? no_register : rd;
    }

    bool jump(const decoded& d) {
        const u8 rd = destination(d);
        const u32 offset = target(d);
        if ((offset & 2) != 0 && !isa_.has(extension::c)) {
            push(system<misaligned_jump>, d.imm, {0, 0, through_here()});
            return false;
        }
        if (follow(offset)) {
            if (rd != nowhere) {
                push(add_upper_to_pc, static_cast<i32>(next_), {rd, 0, 0});
                in_acc_ = rd;
                link_ = {rd, next_};
                linked_ = true;
            }
            next_ = offset;
            return true;
        }
        emit_link(rd == nowhere ? end_of_block : jump_and_link, static_cast<i32>(next_),
                  {rd, 0, through_here()}, offset);
        return false;
    }

    /// Follows a jump within the page to an offset not yet in this block; needs no operation.
    bool follow(u32 offset) {
        if (!follow_jumps || offset >= code_page::size) return false;
        for (const auto& slot : b_.slots)
            if (slot.offset == offset) return false;
        return offset != b_.start && ++followed_ <= max_followed;
    }

    static u8 destination(const decoded& d) { return d.rd == 0 ? nowhere : d.rd; }
    u32 target(const decoded& d) const { return offset_ + static_cast<u32>(d.imm); }
    u8 through_here() const { return static_cast<u8>(count_ + 1); }
    unsigned from_acc(u8 index) const { return index == in_acc_ ? 1 : 0; }
    handler pick(const decoded& d) const {
        return d.definition->run[from_acc(d.rs1) | from_acc(d.rs2) << 1];
    }

    block& b_;
    const isa isa_;
    u32 offset_, next_ = 0;
    u32 bits_ = 0;
    u8 count_ = 0;
    u8 in_acc_ = no_register;
    unsigned followed_ = 0;
    bool jumped_ = true;  // execution arrived at offset() by a jump
    struct {
        u8 reg = no_register;
        u32 offset = 0;
    } link_;               // a register known to hold a return address in this page
    bool linked_ = false;  // this instruction has set link_
    std::vector<std::size_t> links_;
};

u32 fetch(const code_page& page, u32 offset) {
    u32 bits = 0;
    const u64 bytes = offset + 4 <= code_page::size ? 4 : 2;
    std::memcpy(&bits, page.content().data() + offset, bytes);
    return bits;
}

void assemble(block& b, code_page& page, u32 offset) {
    b.owner = &page;
    assembler a(b, offset, page.extensions());
    for (;;) {
        if (a.full() || a.offset() >= code_page::size) {
            a.end();
            break;
        }
        const u32 bits = fetch(page, a.offset());
        const bool crosses = a.offset() + length_of(bits) > code_page::size;
        if (crosses || std::ranges::binary_search(page.stops(), a.offset())) {
            if (a.empty())
                a.step_alone();
            else
                a.end();
            break;
        }
        a.enter(page);
        if (!a.add(decode(bits, page.extensions()))) break;
    }
    b.ops.shrink_to_fit();
    a.finish();
}

void assemble_one(block& b, const decoded& instruction, u32 offset, isa extensions) {
    b.owner = nullptr;
    assembler a(b, offset, extensions);
    a.follow_jumps = false;
    if (a.add(instruction)) a.end();
    a.finish();
}

constexpr predecoder to_operations{assemble, assemble_one, jump_to};

}  // namespace

std::shared_ptr<code_cache> make_code_cache() {
    return std::make_shared<code_cache>(to_operations);
}

}  // namespace trn::riscv
