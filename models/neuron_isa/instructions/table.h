// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "models/neuron_isa/instructions/instruction.h"

/// The instructions of doc/spec/neuron-core.md 8. Decoder, encoder, assembler, tests and
/// doc/models/neuron_isa/instructions.md read this table.
namespace trn::isa {

/// Bytes 16-63 of a control instruction, or bytes 16-127 of a data-path instruction.
enum class layout : std::uint8_t {
    registers,  ///< the row's `fields`
    sync,
    writes,
    doorbells,
    dge,
    tiles,          ///< B is a tensor operand
    tiles_pattern,  ///< B and S1 hold a data pattern
    tiles_shuffle,  ///< B holds a shuffle mask
    tiles_table,    ///< bytes 120-127 hold a memory address
};

/// A field of layout::registers.
struct field {
    enum class kind : std::uint8_t { reg, number, type, u32, i32, address, place };
    /// Whether the field is used, given the row's flag `immediate`; an unused field must be 0.
    enum class use : std::uint8_t { always, with_flag, without_flag };
    std::string_view name;
    std::uint8_t byte;
    kind content;
    std::uint64_t register_fields::*member = nullptr;  ///< null: `place`
    use used = use::always;

    /// Whether no instruction has both fields.
    constexpr bool excludes(const field& other) const {
        const auto place = [](kind k) { return k == kind::address || k == kind::place; };
        return (used != use::always && other.used != use::always && used != other.used) ||
               (place(content) && place(other.content) && content != other.content);
    }
    constexpr unsigned bytes() const {
        if (content == kind::address) return 8;
        return content == kind::u32 || content == kind::i32 || content == kind::place ? 4 : 1;
    }
};

enum class need : std::uint8_t { unused, optional, required };

/// Element types that an operand may have, before the limits of engine and generation (spec 3.1).
enum class types : std::uint8_t {
    computed,      ///< types that lanes convert to and from FP32: codes 0-13
    moved,         ///< all types: equal types are copied bit by bit
    matmul,        ///< floats, and x4 types with MODE MX
    psum,          ///< type of a matmul's result
    predicate,     ///< UINT8, UINT16, UINT32
    predicate_16,  ///< 8- or 16-bit integers
    index,         ///< UINT16, UINT32
    word,          ///< UINT32
    index_32,      ///< INT32, UINT32
    integer,       ///< codes 8-13
    words_32,      ///< any 32-bit type
    mx_source,     ///< FP16, BF16
    packed,        ///< x4 types that QUANTIZE_MX writes
    scale,         ///< E8M0, or UINT8
    tags,          ///< UINT16
    two_bytes,     ///< 2-byte types
    segment,       ///< FP32, INT32
    bf16,
    int32,
    scale_or_tags,  ///< B of LOAD_STATIONARY
};

struct operand_rule {
    isa::need need = need::unused;
    isa::types types = types::computed;
};
constexpr operand_rule required(types t) {
    return {need::required, t};
}
constexpr operand_rule optional(types t) {
    return {need::optional, t};
}

/// Relation of the operands' shapes, as [partitions, elements].
enum class shape : std::uint8_t {
    none,
    elementwise,  ///< all tiles present have DST's shape
    dst_only,
    reduction,  ///< DST has one element per index of A's dimensions from SUBDIM on
    column,     ///< DST [P, 1]
    transpose_32,
    shuffle,
    bn_stats,     ///< DST [P, 6]
    bn_aggr,      ///< A [P, 3t], DST [P, 2]
    max8,         ///< DST [P, 8], A [P, 8..16384]
    match_load,   ///< A [P, 8]
    find_index8,  ///< DST [P, 8]
    match_replace8,
    single_element,  ///< A [1, 1]
    rng_state,
    quantize_mx,
    stationary,
    multiply,
    local_gather,
    gather_n,
    partition_reduce,
    sequence_bounds,
    nonzero_count,
    topk,
    gather_rows,  ///< DMA_GATHER, DMA_SCATTER
    gather_transpose,
    native,  ///< see native_shape
};

/// Operators of OP0 and OP1.
enum class operators : std::uint8_t {
    none,
    lane,           ///< one operator
    two_operators,  ///< two operators of one kind
    two_arithmetic,
    reduction,        ///< operators with a start value
    cumulative,       ///< OP0 arithmetic; OP1 add, subtract, mult, max, min
    comparison,       ///< OP0
    two_comparisons,  ///< eq, lt, le, gt, ge
    partition_reduction,
    activation,
    activation_2,  ///< activation, and operators in IMM
};

/// Type of IMM.
enum class immediate : std::uint8_t { none, u32, i32, fp32, by_dst };

struct row {
    std::uint8_t number;  ///< in spec 8
    isa::opcode opcode;
    std::string_view mnemonic;
    std::array<std::uint8_t, 3> engines;  ///< bit per engine; generation v2, v3, v4
    isa::layout layout;
    std::span<const field> fields{};
    isa::operators operators = operators::none;
    std::uint8_t reduce_ops = 0;   ///< bit per alu code add..min; with REDUCE_CMD
    std::uint8_t reduce_cmds = 0;  ///< bit per accumulator_command other than idle
    std::uint16_t modes = 0;
    isa::immediate imm = immediate::none;
    bool uses_subdim = false, uses_tile = false;
    operand_rule dst{}, a{}, b{}, s0{}, s1{};
    isa::shape shape = shape::none;
    std::string_view does;

    constexpr bool is_long() const { return layout >= layout::dge; }
    constexpr bool is_tiles() const { return layout >= layout::tiles; }
    constexpr bool runs_on(engine e, generation g) const {
        return (engines[static_cast<unsigned>(g) - 2] >> static_cast<unsigned>(e) & 1) != 0;
    }
};

std::span<const row> table();
/// Null for an opcode that does not exist.
const row* find(opcode code);
const row* find(std::string_view mnemonic);

inline constexpr std::string_view engine_names[engine_count] = {"tensor", "scalar", "gpsimd",
                                                                "vector", "sync"};
std::string_view name_of(engine e);
std::string_view name_of(alu op);        ///< "" for an unknown code
std::string_view name_of(activation f);  ///< "" for an unknown code
std::string_view name_of(numerics::element type);
std::string_view name_of(error code);
std::string_view name_of(reason why);

}  // namespace trn::isa
