// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "models/neuron_isa/numerics/activation.h"
#include "models/neuron_isa/numerics/alu.h"
#include "models/neuron_isa/numerics/numerics.h"

/// Instructions of a NeuronCore's engines as values: the fields of their 64 or 128 bytes. Spec:
/// doc/spec/neuron-core.md 7 and 8; all bit layouts are invented.
namespace trn::isa {

enum class engine : std::uint8_t { tensor, scalar, gpsimd, vector, sync };
inline constexpr unsigned engine_count = 5;

enum class generation : std::uint8_t { v2 = 2, v3 = 3, v4 = 4 };

inline constexpr unsigned word_bytes = 64;  ///< unit of the pc
inline constexpr unsigned max_words = 2;    ///< per instruction
inline constexpr unsigned register_count = 64;
inline constexpr unsigned max_partitions = 128;

enum class opcode : std::uint16_t {
    nop = 0x1001,
    halt = 0x1002,
    event_semaphore = 0x1003,
    drain = 0x1004,
    write = 0x1005,
    notify = 0x1006,
    reg_move = 0x1010,
    reg_alu = 0x1011,
    reg_load = 0x1012,
    reg_store = 0x1013,
    branch = 0x1020,
    loop = 0x1021,
    call = 0x1022,
    return_ = 0x1023,
    flush = 0x1030,
    delay = 0x1031,
    rank = 0x1032,

    dma_start = 0x1801,
    dge_copy = 0x1810,
    dma_gather = 0x1820,
    dma_scatter = 0x1821,
    dma_gather_transpose = 0x1822,

    load_stationary = 0x2001,
    multiply = 0x2002,

    copy = 0x3001,
    memset = 0x3002,
    copy_predicated = 0x3003,
    tensor_tensor = 0x3010,
    tensor_scalar = 0x3011,
    scalar_tensor_tensor = 0x3012,
    tensor_reduce = 0x3013,
    tensor_scalar_reduce = 0x3014,
    tensor_scalar_cumulative = 0x3015,
    tensor_tensor_scan = 0x3016,
    read_accumulator = 0x3017,
    transpose_32 = 0x3020,
    shuffle = 0x3021,
    reciprocal = 0x3030,
    exponential = 0x3031,
    bn_stats = 0x3032,
    bn_aggr = 0x3033,
    max8 = 0x3034,
    match_load = 0x3035,
    find_index8 = 0x3036,
    match_replace8 = 0x3037,
    range_select = 0x3038,
    select_reduce = 0x3039,
    dropout = 0x3040,
    rng = 0x3041,
    rand2 = 0x3042,
    set_rng_seed = 0x3043,
    rand_set_state = 0x3044,
    rand_get_state = 0x3045,
    quantize_mx = 0x3050,

    activate = 0x4001,
    activate2 = 0x4002,
    load_table = 0x4003,

    iota = 0x5001,
    affine_select = 0x5002,
    local_gather = 0x5003,
    gather_n = 0x5004,
    partition_reduce = 0x5005,
    sequence_bounds = 0x5006,
    nonzero_count = 0x5007,
    topk = 0x5008,
    pool_call = 0x5010,
};

using numerics::activation;
using numerics::alu;
inline constexpr unsigned activation_count = numerics::activation_kinds;

/// REDUCE_CMD: how an instruction uses the 128 accumulators (spec 3.5).
enum class accumulator_command : std::uint8_t { idle, reset, reduce, reset_reduce, load_reduce };

/// Spec 6.
enum class wait_mode : std::uint8_t { none, ge, eq, le, ne, event_set, event_clear, ge_subtract };
/// Spec 6; a code plus `at_issue` updates when the instruction is issued.
enum class update_mode : std::uint8_t { none, add, subtract, set, event_set, event_clear };
inline constexpr std::uint8_t at_issue = 8;

namespace flag {  // byte 2
inline constexpr std::uint8_t long_form = 1, notify = 2, wait_reg = 4, update_reg = 8, stop = 16;
}

namespace mode {  // bytes 20-21
inline constexpr std::uint16_t reverse0 = 1 << 0, reverse1 = 1 << 1, negate = 1 << 2,
                               accumulate = 1 << 3, transpose = 1 << 4, mx = 1 << 5,
                               double_row = 1 << 6, onezero_stationary = 1 << 7,
                               onezero_moving = 1 << 8, predicate_reversed = 1 << 9,
                               oob_skip = 1 << 10, ocp = 1 << 11, sparse = 3 << 12,
                               keep_rate = 1 << 14, offset_register = 1 << 15;
inline constexpr unsigned sparse_shift = 12;
}  // namespace mode

enum class space : std::uint8_t { none, sbuf, psum, reserved };

/// WHERE: a byte of SBUF or PSUM.
struct location {
    isa::space space = isa::space::none;
    std::uint8_t partition = 0;  ///< 0..127
    std::uint32_t offset = 0;    ///< bytes in the partition, 18 bits

    bool operator==(const location&) const = default;
};

/// One dimension of an access pattern, in elements.
struct dimension {
    std::int16_t stride = 0;
    std::uint16_t count = 0;

    bool operator==(const dimension&) const = default;
};

/// Spec 7.3. Absent while `place.space` is none.
struct tile_operand {
    location place;
    numerics::element type{};
    std::uint8_t dimensions = 0;  ///< 1..4; 0 is an absent operand
    bool indirect = false;
    bool offset_from_register = false;
    std::uint8_t reg = 0;                ///< register with the offset, in elements
    std::uint16_t partitions = 0;        ///< 1..256; 0 is an absent operand
    std::array<dimension, 4> pattern{};  ///< the fastest dimension first
    location index;                      ///< of the index tile, when indirect

    bool present() const { return place.space != space::none; }
    /// Elements of each partition.
    std::uint64_t elements() const {
        std::uint64_t n = present() ? 1 : 0;
        for (unsigned i = 0; i < dimensions && i < pattern.size(); ++i) n *= pattern[i].count;
        return n;
    }
    /// Bytes from the first element to the lowest and to the highest one, over the dimensions from
    /// `first` on. Precondition: at most 4 dimensions.
    std::pair<std::int64_t, std::int64_t> reach(unsigned first = 0) const {
        std::int64_t low = 0, high = 0;
        for (unsigned d = first; d < dimensions; ++d) {
            const std::int64_t bytes =
                std::int64_t{size_of(type)} * pattern[d].stride * (pattern[d].count - 1);
            (bytes < 0 ? low : high) += bytes;
        }
        return {low, high};
    }
    /// Calls visit(first byte in the partition) for each element of a partition. Precondition: not
    /// indirect.
    template <class Visit>
    void for_elements(Visit&& visit) const {
        const auto count = [this](unsigned d) -> int {
            return d < dimensions ? pattern[d].count : 1;
        };
        const std::int64_t size = size_of(type);
        for (int d3 = 0; d3 < count(3); ++d3)
            for (int d2 = 0; d2 < count(2); ++d2)
                for (int d1 = 0; d1 < count(1); ++d1)
                    for (int d0 = 0; d0 < count(0); ++d0)
                        visit(place.offset + size * (std::int64_t{d0} * pattern[0].stride +
                                                     std::int64_t{d1} * pattern[1].stride +
                                                     std::int64_t{d2} * pattern[2].stride +
                                                     std::int64_t{d3} * pattern[3].stride));
    }
    bool operator==(const tile_operand&) const = default;
};

enum class scalar_kind : std::uint8_t { none, fp32, i32, tile, register_fp32, register_i32 };

/// Spec 7.4. A sequencer replaces register kinds by immediates of the same type.
struct scalar_operand {
    scalar_kind kind = scalar_kind::none;
    numerics::element type{};  ///< type of the tile
    std::uint8_t reg = 0;
    std::uint32_t value = 0;  ///< FP32 bits or i32
    location place;           ///< first byte of the tile

    bool present() const { return kind != scalar_kind::none; }
    bool operator==(const scalar_operand&) const = default;
};

/// Spec 7.5: value(p, d3..d0) = offset + p * multiplier + sum of d_i * steps_i, modulo 2^32.
struct data_pattern {
    std::int32_t offset = 0;
    std::int32_t multiplier = 0;
    std::array<std::int32_t, 4> steps{};
    std::array<std::uint16_t, 4> counts{};  ///< unused dimensions count 1

    bool operator==(const data_pattern&) const = default;
};

struct wait_condition {
    std::uint8_t mode = 0;  ///< code of wait_mode; 8 and above are illegal
    std::uint8_t index = 0;
    std::int32_t value = 0;

    bool operator==(const wait_condition&) const = default;
};

struct semaphore_update {
    std::uint8_t mode = 0;  ///< code of update_mode, may include at_issue
    std::uint8_t index = 0;
    std::int32_t value = 0;

    bool operator==(const semaphore_update&) const = default;
};

/// An entry of EVENT_SEMAPHORE: a wait, or an update if `mode` is 0x80 or above.
struct sync_entry {
    static constexpr std::uint8_t update = 0x80;
    std::uint8_t mode = 0;
    std::uint8_t index = 0;
    std::int32_t value = 0;

    bool operator==(const sync_entry&) const = default;
};
using sync_list = std::array<sync_entry, 6>;

/// One posted write of WRITE.
struct posted_write {
    std::uint64_t address = 0;
    std::uint32_t data = 0;
    std::uint8_t size = 0;      ///< bytes; 0 ends the list
    std::uint8_t reg_data = 0;  ///< bit 7: data is register 5:0

    bool operator==(const posted_write&) const = default;
};
using write_list = std::array<posted_write, 3>;

/// Doorbells of DMA_START: `queue` of each engine in `engines`.
struct doorbell_set {
    std::uint16_t engines = 0;
    std::uint8_t queue = 0;
    std::uint16_t m2s_count = 0;
    std::uint16_t s2m_count = 0;

    bool operator==(const doorbell_set&) const = default;
};
using doorbell_sets = std::array<doorbell_set, 2>;

/// DGE_COPY: a command of the hardware descriptor generator.
struct dge_copy_fields {
    struct side {
        std::uint64_t base = 0;
        std::uint8_t reg = 0;  ///< bit 7: register 5:0 x reg_unit is added
        std::uint32_t reg_unit = 0;
        struct dimension {
            std::int32_t stride = 0;  ///< bytes
            std::uint16_t count = 0;
            bool operator==(const dimension&) const = default;
        };
        std::array<dimension, 4> pattern{};

        bool operator==(const side&) const = default;
    };
    std::uint16_t engines = 0;
    std::uint8_t queue = 0;
    std::uint8_t semaphore = 0;
    std::uint16_t piece_bytes = 0;
    static constexpr std::uint8_t oob_skip = 1, transpose = 2, accumulate = 4, bf16 = 8;
    /// TRANSPOSE: 2-byte elements. ACCUMULATE: FP32, or BF16 with its own flag (invented).
    std::uint8_t flags = 0;
    std::uint8_t priority = 0;
    side source, destination;
    std::uint64_t limit = 0;  ///< bytes of the dynamic side; 0: unlimited

    bool operator==(const dge_copy_fields&) const = default;
};

/// Fields of the other control instructions; each uses some of them (spec 8.1). Signed fields are
/// sign-extended.
struct register_fields {
    std::uint64_t rd = 0, ra = 0, rb = 0;
    std::uint64_t selector = 0;   ///< operator, condition, element type, or RANK's value
    std::uint64_t immediate = 0;  ///< 1: `imm` replaces a register
    std::uint64_t imm = 0;
    std::uint64_t step = 0;
    std::uint64_t target = 0;  ///< words, relative to this instruction
    std::uint64_t address = 0;
    location place;

    bool operator==(const register_fields&) const = default;
};

struct instruction {
    isa::opcode opcode{};
    std::uint8_t flags = 0;
    wait_condition wait;
    semaphore_update update;

    // Data-path instructions (spec 7.2).
    std::uint8_t op0 = 0, op1 = 0;  ///< alu code; activation code in ACTIVATE's op0
    std::uint8_t reduce_op = 0, reduce_cmd = 0;
    std::uint16_t mode = 0;
    std::uint8_t subdim = 0;
    std::uint8_t tile = 0;
    std::uint32_t imm = 0;
    scalar_operand s0, s1;
    tile_operand dst, a, b;
    data_pattern pattern;
    std::array<std::uint8_t, 32> shuffle{};
    std::uint64_t table_base = 0;  ///< bytes 120-127 of DMA_GATHER and DMA_SCATTER

    std::variant<register_fields, sync_list, write_list, doorbell_sets, dge_copy_fields> control;

    bool dynamic_operands = false;  ///< set by check(): offsets come from registers

    bool is_long() const { return (flags & flag::long_form) != 0; }
    unsigned words() const { return is_long() ? 2 : 1; }
    bool has_mode(std::uint16_t bits) const { return (mode & bits) != 0; }
    bool operator==(const instruction&) const = default;
};

/// TILE of PE instructions: rows and columns of the array.
struct pe_tile {
    unsigned row, column, rows, columns;  ///< a size of 0: illegal size code
};
constexpr pe_tile pe_tile_of(std::uint8_t tile) {
    constexpr unsigned sizes[] = {128, 64, 32, 0};
    return {(tile & 3u) * 32, (tile >> 2 & 3u) * 32, sizes[tile >> 4 & 3], sizes[tile >> 6]};
}

/// Spec 10.1.
enum class error : std::uint8_t {
    none,
    illegal_instruction,
    bad_operand,
    out_of_bounds,
    indirect_oob,
    memory,
    fetch,
    write_failed,
    semaphore,
    numerical,
    psum_collision,
    timeout,
    breakpoint,
};

/// ERROR_DETAIL 7:0.
enum class operand : std::uint8_t { dst, a, b, s0, s1, none = 0xff };

/// ERROR_DETAIL 31:8 of faults that have no byte offset.
enum class reason : std::uint8_t {
    none,
    format,
    opcode,
    reserved_bits,
    engine,
    generation,
    length,  ///< LONG does not fit the opcode
    wait_mode,
    update_mode,
    operation,  ///< OP0, OP1, REDUCE_OP, REDUCE_CMD, condition
    mode,       ///< MODE, SUBDIM or TILE
    unused_field,
    kind,    ///< kind of a scalar operand
    absent,  ///< a required operand is missing
    space,
    type,
    dimensions,
    count,
    partitions,
    alignment,
    free_size,
    shape,  ///< shapes of operands do not agree
    register_number,
    value,
};

struct fault {
    error code = error::none;
    isa::operand operand = isa::operand::none;
    std::uint32_t detail = 0;  ///< reason, or byte offset in the partition; 24 bits

    constexpr std::uint32_t error_detail() const {
        return static_cast<std::uint32_t>(operand) | detail << 8;
    }
    bool operator==(const fault&) const = default;
};
constexpr fault fault_of(error code, reason why, operand name = operand::none) {
    return {code, name, static_cast<std::uint32_t>(why)};
}

}  // namespace trn::isa
