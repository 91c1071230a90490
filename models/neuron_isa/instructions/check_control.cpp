// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/instructions/check_control.h"

#include <bit>
#include <variant>

namespace trn::isa {

namespace {

class control_checks : instruction_checks {
public:
    control_checks(decoded& d, const core_traits& core) : instruction_checks(d, core) {}

    finding run() {
        if (unused_ != 0) return illegal(reason::unused_field);
        switch (kind_.layout) {
        case layout::registers:
            return register_fields_of(std::get<register_fields>(i_.control));
        case layout::sync:
            return sync(std::get<sync_list>(i_.control));
        case layout::writes:
            return writes(std::get<write_list>(i_.control));
        case layout::doorbells:
            return doorbells(std::get<doorbell_sets>(i_.control));
        default:
            return dge(std::get<dge_copy_fields>(i_.control));
        }
    }

private:
    finding register_fields_of(register_fields& f) const {
        if (f.immediate > 1) return illegal(reason::reserved_bits);
        switch (i_.opcode) {
        case opcode::reg_alu:
            if (!in(integer_alu, static_cast<unsigned>(f.selector)))
                return illegal(reason::operation);
            break;
        case opcode::branch:
            if (f.selector > 6) return illegal(reason::operation);
            if (f.selector == 0 && (f.ra | f.rb | f.imm | f.immediate) != 0)
                return illegal(reason::unused_field);
            break;
        case opcode::rank:
            if (f.selector > 5) return illegal(reason::operation);
            break;
        default:
            break;
        }
        for (const field& entry : kind_.fields)
            if (entry.content == field::kind::reg && f.*entry.member >= register_count)
                return no_register();
        if (is(opcode::reg_load) || is(opcode::reg_store)) return element_access(f);
        if (is(opcode::loop) && static_cast<std::int32_t>(f.step) <= 0) return bad(reason::value);
        if (is(opcode::load_table) && f.imm > 5) return bad(reason::value);
        return std::nullopt;
    }

    finding element_access(const register_fields& f) const {
        const auto type = static_cast<element>(f.selector);
        if (f.selector >= numerics::element_kinds || !exists(type, core_.generation))
            return bad(reason::type);
        if (f.place.space == space::reserved) return bad(reason::space);
        if (f.place == location{}) return std::nullopt;
        if (f.place.space == space::none || f.address != 0) return illegal(reason::unused_field);
        if (!aligned(f.place, type)) return bad(reason::alignment);
        if (f.place.offset + size_of(type) > core_.partition_bytes(f.place.space))
            return outside(operand::none, f.place.offset);
        return std::nullopt;
    }

    static finding sync(const sync_list& list) {
        bool ended = false;
        for (const sync_entry& e : list) {
            ended |= e.mode == 0;
            if (ended && e != sync_entry{}) return illegal(reason::unused_field);
            if (ended) continue;
            const unsigned action = e.mode & ~sync_entry::update;
            if ((e.mode & sync_entry::update) == 0) {
                if (action > static_cast<unsigned>(wait_mode::ge_subtract))
                    return illegal(reason::wait_mode);
            } else if (action == 0 || action > static_cast<unsigned>(update_mode::event_clear)) {
                return illegal(reason::update_mode);
            }
            if (e.value != 0 && is_event(e)) return illegal(reason::unused_field);
        }
        return std::nullopt;
    }
    static bool is_event(const sync_entry& e) {
        const unsigned action = e.mode & ~sync_entry::update;
        if ((e.mode & sync_entry::update) == 0)
            return action == unsigned(wait_mode::event_set) ||
                   action == unsigned(wait_mode::event_clear);
        return action == unsigned(update_mode::event_set) ||
               action == unsigned(update_mode::event_clear);
    }

    static finding writes(const write_list& list) {
        bool ended = false;
        for (const posted_write& w : list) {
            ended |= w.size == 0;
            if (ended && w != posted_write{}) return illegal(reason::unused_field);
            if (ended) continue;
            if ((w.reg_data & 0x40) != 0 || (w.reg_data < 0x80 && w.reg_data != 0) ||
                (w.reg_data >= 0x80 && w.data != 0))
                return illegal(reason::unused_field);
            if (w.size > 8 || !std::has_single_bit(w.size)) return bad(reason::value);
        }
        return std::nullopt;
    }

    static finding doorbells(const doorbell_sets& sets) {
        for (const doorbell_set& s : sets) {
            if (s.engines == 0 && s != doorbell_set{}) return illegal(reason::unused_field);
            if (s.queue > 15) return bad(reason::value);
        }
        return std::nullopt;
    }

    finding dge(const dge_copy_fields& f) const {
        if (f.flags >> 4 != 0) return illegal(reason::reserved_bits);
        if (f.priority != 0 && core_.generation != generation::v4)
            return illegal(reason::generation);
        if (f.priority > 3 || f.queue > 15 || f.piece_bytes == 0 || f.engines == 0)
            return bad(reason::value);
        std::uint64_t pieces[2] = {1, 1};
        for (const auto* side : {&f.source, &f.destination}) {
            if ((side->reg & 0x40) != 0 || (side->reg < 0x80 && (side->reg | side->reg_unit) != 0))
                return illegal(reason::unused_field);
            for (const auto& d : side->pattern) pieces[side == &f.destination] *= d.count;
        }
        if (f.limit != 0 && f.source.reg == 0 && f.destination.reg == 0)
            return illegal(reason::unused_field);
        if (pieces[0] == 0 || pieces[1] == 0) return bad(reason::count);
        if (pieces[0] != pieces[1]) return bad(reason::shape);
        return dge_pieces(f, pieces[0]);
    }

    /// Checks a DGE_COPY against the limits of the descriptor generators (doc/dma_compute.md).
    static finding dge_pieces(const dge_copy_fields& f, std::uint64_t pieces) {
        constexpr std::uint64_t max_share = 16384, max_rows = 64, max_matrix = 65536;
        const bool transposes = (f.flags & dge_copy_fields::transpose) != 0;
        const bool accumulates = (f.flags & dge_copy_fields::accumulate) != 0;
        const bool bf16 = (f.flags & dge_copy_fields::bf16) != 0;
        if ((transposes && accumulates) || (bf16 && !accumulates)) return illegal(reason::mode);
        if (accumulates && f.piece_bytes % (bf16 ? 2 : 4) != 0) return bad(reason::value);
        std::uint64_t rows = 1;
        if (transposes) {
            rows = f.source.pattern[0].count;
            if (rows != f.destination.pattern[0].count) return bad(reason::shape);
            if (rows > max_rows || rows * f.piece_bytes > max_matrix || f.piece_bytes % 2 != 0)
                return bad(reason::value);
        }
        const std::uint64_t units = pieces / rows, sharers = std::popcount(f.engines);
        const std::uint64_t share = units / sharers + (units % sharers != 0);
        return share * rows > max_share ? bad(reason::count) : std::nullopt;
    }
};

}  // namespace

finding check_control(decoded& d, const core_traits& core) {
    return control_checks(d, core).run();
}

}  // namespace trn::isa
