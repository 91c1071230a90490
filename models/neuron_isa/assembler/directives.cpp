// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/assembler/directives.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "models/neuron_isa/instructions/table.h"

namespace trn::isa {

namespace {

constexpr std::string_view role_words[] = {"in", "out", "inout", "scratch"};
constexpr std::string_view reserved[] = {"sbuf", "psum", "control", "program", "cc", "S"};

template <typename Map>
std::vector<std::string_view> names_in(const Map& map) {
    std::vector<std::string_view> names;
    for (const auto& [name, number] : map) names.push_back(name);
    return names;
}

}  // namespace

/// One side of a transfer, before both sides get the same rows and blocks.
struct program_names::rows_of_blocks {
    struct dimension {
        std::uint64_t count, stride;  ///< bytes
    };
    transfer_side side;
    std::vector<dimension> dimensions = {};   ///< tensor: slowest dimension first
    std::size_t first_range = 0;              ///< tensor: the first dimension that is a range
    std::uint64_t element = 0;                ///< tensor: bytes per element
    std::uint32_t partitions = 0;             ///< tile: partitions
    std::optional<std::uint64_t> pitch = {};  ///< tile: bytes from block to block

    bool is_raw = false;  ///< whether the text gives strides

    std::uint64_t blocks = 1, bytes = 0;

    bool is_tensor() const { return side.kind == transfer_side::memory::tensor; }
    /// Merges all dimensions but `row` into blocks of contiguous bytes. \returns false if more than
    /// two strides remain
    bool join(std::optional<std::size_t> row) {
        bytes = element;
        for (std::size_t d = dimensions.size(); d-- > 0;) {
            const auto& [count, stride] = dimensions[d];
            if (d == row || count == 1) continue;
            if (blocks == 1 && stride == bytes) {
                bytes *= count;
            } else if (blocks == 1) {
                blocks = count;
                side.block = stride;
            } else if (stride == side.block * blocks) {
                blocks *= count;
            } else {
                return false;
            }
        }
        return true;
    }
};

void program_names::need_core(unsigned number) {
    set_.cores = std::max(set_.cores, number + 1);
}

unsigned program_names::read_queue(cursor& input, unsigned max) {
    const std::size_t start = input.position();
    const auto queue = static_cast<unsigned>(input.number(0, max));
    if (queue >= first_collective_queue && queue <= last_collective_queue)
        collective_queues_.push_back({core, queue, start, 1});
    return queue;
}

std::string program_names::new_name(cursor& input, std::string_view expected) const {
    const std::size_t start = input.position();
    const std::string_view name = input.name(expected);
    if (name.size() > max_name_bytes)
        input.fail(mistake::bad_name, start,
                   fmt::format("a name has at most {} letters", max_name_bytes));
    if (std::ranges::find(reserved, name) != std::end(reserved) ||
        (name.starts_with("core") && name.size() == 5 && is_digit(name[4])))
        input.fail(mistake::bad_name, start,
                   fmt::format("'{}' has a meaning of its own here", name));
    if (tensors_.contains(name) || transfers_.contains(name))
        input.fail(mistake::duplicate_name, start, fmt::format("'{}' is declared already", name));
    return std::string(name);
}

std::uint32_t program_names::find_tensor(cursor& input, std::size_t start,
                                         std::string_view name) const {
    if (const auto found = tensors_.find(name); found != tensors_.end()) return found->second;
    input.fail(mistake::unknown_variable, start,
               fmt::format("no tensor '{}' is declared above", name),
               suggest(name, names_in(tensors_)));
}

const transfer& program_names::read_transfer_name(cursor& input) const {
    const std::size_t start = input.position();
    const std::string_view name = input.name("the name of a transfer");
    if (const auto found = transfers_.find(name); found != transfers_.end())
        return set_.transfers[found->second];
    input.fail(mistake::unknown_variable, start,
               fmt::format("no transfer '{}' is declared above", name),
               suggest(name, names_in(transfers_)));
}

unsigned program_names::read_core(cursor& input) {
    const cursor before = input;
    if (input.accept("core") && input.at_number()) {
        const auto number = static_cast<unsigned>(input.number(0, max_set_cores - 1));
        input.expect(".");
        need_core(number);
        return number;
    }
    input = before;
    return core;
}

sync_index program_names::read_semaphore(cursor& input) {
    const unsigned owner = read_core(input);
    const bool event = input.accept("E[");
    if (!event) input.expect("S[");
    const unsigned index = input.number<std::uint8_t>();
    input.expect("]");
    return {static_cast<std::uint16_t>(owner),
            static_cast<std::uint16_t>(event ? first_event + index : index)};
}

void program_names::read_tensor(cursor& input) {
    tensor t;
    t.name = new_name(input, "the name of the tensor");
    t.core = core;
    t.type = input.element_type();
    input.expect("[");
    std::uint64_t bytes = size_of(t.type);
    do {
        const std::size_t start = input.position();
        if (t.shape.size() == max_tensor_rank)
            input.fail(mistake::out_of_range, start, "a tensor has at most 8 dimensions");
        t.shape.push_back(static_cast<std::uint32_t>(input.number(1, 0xffffffff)));
        const bool fits = t.shape.back() <= (max_tensor_bytes - 1) / bytes;
        bytes *= t.shape.back();
        if (!fits) input.fail(mistake::out_of_range, start, "a tensor has less than 1 TiB");
    } while (input.accept(","));
    input.expect("]");
    t.role = static_cast<tensor_role>(input.choice(role_words, "a role of a tensor"));
    std::vector<std::string_view> given;
    while (!input.at_end()) {
        static constexpr std::string_view keys[] = {"align", "core"};
        const std::size_t start = input.position();
        const unsigned key = input.choice(keys, "an option of a tensor");
        input.once(given, start, keys[key]);
        input.expect("=");
        if (key == 0) {
            t.alignment = static_cast<std::uint32_t>(input.number(1, 1 << 30));
            if (!std::has_single_bit(t.alignment))
                input.fail(mistake::misaligned, start, "the alignment is a power of two");
        } else {
            t.core = static_cast<unsigned>(input.number(0, max_set_cores - 1));
            need_core(t.core);
        }
    }
    tensors_[t.name] = static_cast<std::uint32_t>(set_.tensors.size());
    set_.tensors.push_back(std::move(t));
}

/// Reads "sbuf[0:128, 4096]" or "sbuf[0:128, 4096, 1024]", with 1024 bytes from block to block.
program_names::rows_of_blocks program_names::read_tile(cursor& input, unsigned owner,
                                                       transfer_side::memory kind) {
    rows_of_blocks r;
    r.side.kind = kind;
    r.side.object = owner;
    r.side.row = static_cast<std::uint64_t>(input.number(0, max_partitions - 1));
    input.expect(":");
    const std::size_t start = input.position();
    const auto end = static_cast<std::uint64_t>(input.number(1, max_partitions));
    if (end <= r.side.row)
        input.fail(mistake::out_of_range, start, "the last partition is before the first");
    r.partitions = static_cast<std::uint32_t>(end - r.side.row);
    input.expect(",");
    r.side.offset = static_cast<std::uint64_t>(input.number(0, 0x3ffff));
    if (input.accept(",")) r.pitch = static_cast<std::uint64_t>(input.number(1, 0x3ffff));
    input.expect("]");
    return r;
}

/// Reads "x", "x[0:128, 5, 0:64]" or "x@(64, 1024, 0)": first byte, row stride, block stride.
program_names::rows_of_blocks program_names::read_slice(cursor& input) {
    const std::size_t start = input.position();
    rows_of_blocks r;
    r.side.object = find_tensor(input, start, input.name("a tensor, sbuf[...] or psum[...]"));
    const tensor& t = set_.tensors[r.side.object];
    std::uint64_t stride = r.element = size_of(t.type);
    for (std::size_t d = t.shape.size(); d-- > 0; stride *= t.shape[d])
        r.dimensions.insert(r.dimensions.begin(), {t.shape[d], stride});
    if (input.accept("@(")) {
        r.side.offset = input.bits64();
        input.expect(",");
        r.side.row = input.bits64();
        input.expect(",");
        r.side.block = input.bits64();
        input.expect(")");
        r.is_raw = true;
        return r;
    }
    if (!input.accept("[")) return r;
    bool has_range = false;
    for (std::size_t d = 0; d < r.dimensions.size(); ++d) {
        if (d != 0) input.expect(",");
        const std::size_t index_at = input.position();
        const auto size = static_cast<std::int64_t>(t.shape[d]);
        const std::int64_t first = input.number(0, size - 1);
        const bool is_range = input.accept(":");
        const std::int64_t end = is_range ? input.number(1, size) : first + 1;
        if (end <= first)
            input.fail(mistake::out_of_range, index_at, "the end is before the begin");
        if (is_range && !std::exchange(has_range, true)) r.first_range = d;
        r.dimensions[d].count = static_cast<std::uint64_t>(end - first);
        r.side.offset += static_cast<std::uint64_t>(first) * r.dimensions[d].stride;
    }
    if (!has_range) r.first_range = r.dimensions.size();
    input.expect("]");
    return r;
}

program_names::rows_of_blocks program_names::read_side(cursor& input) {
    const cursor before = input;
    const unsigned owner = read_core(input);
    if (input.accept("sbuf[")) return read_tile(input, owner, transfer_side::memory::sbuf);
    if (input.accept("psum[")) return read_tile(input, owner, transfer_side::memory::psum);
    input = before;
    return read_slice(input);
}

/// Reads "(rows, blocks, bytes)".
bool program_names::read_shape(cursor& input, transfer& t) {
    input.expect("(");
    t.rows = static_cast<std::uint32_t>(input.number(1, 0xffffffff));
    input.expect(",");
    t.blocks = static_cast<std::uint32_t>(input.number(1, 0xffffffff));
    input.expect(",");
    t.bytes = static_cast<std::uint32_t>(input.number(1, 0xffffffff));
    input.expect(")");
    return true;
}

void program_names::read_options(cursor& input, transfer& t, rows_of_blocks (&sides)[2]) {
    const std::size_t begin = input.position();
    std::optional<std::size_t> row;
    std::optional<std::uint64_t> bytes;
    bool broadcast = false, has_shape = false;
    std::vector<std::string_view> given;
    while (!input.at_end()) {
        const std::size_t start = input.position();
        const cursor before = input;
        const unsigned owner = read_core(input);
        if (input.accept("S[")) {
            input.once(given, start, "S[n]");
            t.semaphore_core = owner;
            t.semaphore = input.number<std::uint8_t>();
            input.expect("]");
            continue;
        }
        input = before;
        static constexpr std::string_view keys[] = {"queue", "engines",   "rows",
                                                    "bytes", "broadcast", "shape"};
        const unsigned key = input.choice(keys, "an option of a transfer");
        input.once(given, start, keys[key]);
        if (key != 4) input.expect("=");
        if (key == 0)
            t.queue = read_queue(input, transfer_queues - 1);
        else if (key == 1)
            t.engines = static_cast<std::uint16_t>(input.number(1, 0xffff));
        else if (key == 2)
            row = static_cast<std::size_t>(input.number(0, max_tensor_rank - 1));
        else if (key == 3)
            bytes = static_cast<std::uint64_t>(input.number(1, 0xffffffff));
        else if (key == 4)
            broadcast = true;
        else
            has_shape = read_shape(input, t);
    }
    if (!row && !bytes && !has_shape &&
        split_evenly(static_cast<unsigned>(std::popcount(t.engines)), sides))
        return;
    for (rows_of_blocks& s : sides) {
        if (s.is_raw && !has_shape)
            input.fail(mistake::missing_key, begin, "strides need shape=(rows, blocks, bytes)");
        if (has_shape) {
            s.blocks = t.blocks;
            s.bytes = t.bytes;
            if (s.is_tensor()) s.partitions = t.rows;
            continue;
        }
        if (!s.is_tensor()) {
            s.bytes = bytes.value_or(0);
            continue;
        }
        const rows_of_blocks& other = &s == sides ? sides[1] : sides[0];
        std::optional<std::size_t> mine = row.value_or(s.first_range);
        if (broadcast || (!row && (s.first_range == s.dimensions.size() ||
                                   (!other.is_tensor() && other.partitions == 1))))
            mine.reset();
        if (mine && *mine >= s.dimensions.size())
            input.fail(mistake::out_of_range, begin, "the tensor has no such dimension for 'rows'");
        if (!s.join(mine))
            input.fail(mistake::wrong_shape, begin,
                       "a row is more than blocks of contiguous bytes: use several transfers");
        s.partitions = mine ? static_cast<std::uint32_t>(s.dimensions[*mine].count)
                            : (broadcast && !other.is_tensor() ? other.partitions : 1);
        s.side.row = mine ? s.dimensions[*mine].stride : 0;
        if (bytes && s.bytes * s.blocks != *bytes)
            input.fail(mistake::out_of_range, begin,
                       fmt::format("a row of the tensor has {} bytes", s.bytes * s.blocks));
    }
}

/// Divides whole contiguous parts of tensors into rows of equal size, one per engine if possible.
bool program_names::split_evenly(unsigned engines, rows_of_blocks (&sides)[2]) {
    rows_of_blocks whole[2] = {sides[0], sides[1]};
    for (rows_of_blocks& s : whole)
        if (!s.is_tensor() || s.is_raw || !s.join(std::nullopt) || s.blocks != 1) return false;
    if (whole[0].bytes != whole[1].bytes) return false;
    const unsigned rows = whole[0].bytes % engines == 0 ? engines : 1;
    for (rows_of_blocks& s : whole) {
        s.bytes /= rows;
        s.partitions = rows;
        s.side.row = rows == 1 ? 0 : s.bytes;
    }
    sides[0] = std::move(whole[0]);
    sides[1] = std::move(whole[1]);
    return true;
}

void program_names::lay_out(cursor& input, std::size_t start, transfer& t,
                            rows_of_blocks (&sides)[2]) {
    auto& [source, destination] = sides;
    if (source.partitions != destination.partitions)
        input.fail(mistake::out_of_range, start,
                   fmt::format("{} rows go to {} rows", source.partitions, destination.partitions));
    rows_of_blocks& finer = source.blocks >= destination.blocks ? source : destination;
    rows_of_blocks& other = &finer == &source ? destination : source;
    if (finer.bytes == 0) finer.bytes = other.bytes;
    if (finer.bytes == 0)
        input.fail(mistake::missing_key, start,
                   "between two tiles, bytes= says how many of a partition");
    const bool same = other.blocks == finer.blocks && other.bytes == finer.bytes;
    if (!same) {
        const bool splits =
            other.blocks == 1 && (other.bytes == 0 || other.bytes == finer.bytes * finer.blocks);
        if (!splits)
            input.fail(
                mistake::out_of_range, start,
                fmt::format("rows of {} x {} bytes go to rows of {} x {} bytes", source.blocks,
                            source.bytes, destination.blocks, destination.bytes));
        other.side.block = finer.bytes;
    }
    for (rows_of_blocks* s : {&source, &destination}) {
        if (s->pitch) s->side.block = *s->pitch;
        if (!s->is_tensor() && s->side.block == 0) s->side.block = finer.bytes;
        if (finer.blocks == 1) s->side.block = 0;
    }
    if (finer.bytes > 0xffffffff || finer.blocks > 0xffffffff)
        input.fail(mistake::out_of_range, start, "a block has less than 4 GiB");
    t.rows = source.partitions;
    t.blocks = static_cast<std::uint32_t>(finer.blocks);
    t.bytes = static_cast<std::uint32_t>(finer.bytes);
    t.sides = {source.side, destination.side};
}

void program_names::read_transfer(cursor& input) {
    transfer t;
    const std::size_t name_at = input.position();
    t.name = new_name(input, "the name of the transfer");
    t.core = core;
    const std::size_t start = input.position();
    rows_of_blocks sides[2];
    sides[0] = read_side(input);
    input.expect("->");
    sides[1] = read_side(input);
    read_options(input, t, sides);
    lay_out(input, start, t, sides);
    const auto count = static_cast<unsigned>(std::popcount(t.engines));
    for (unsigned n = 0; n < count; ++n)
        if (t.descriptors_of(n, count) > max_doorbell)
            input.fail(mistake::out_of_range, name_at,
                       fmt::format("an engine would get {} descriptors, at most {} are possible",
                                   t.descriptors_of(n, count), max_doorbell));
    transfers_[t.name] = static_cast<std::uint32_t>(set_.transfers.size());
    set_.transfers.push_back(std::move(t));
}

relocation program_names::read_address(cursor& input) {
    using target = relocation::target;
    relocation r;
    r.core = read_core(input);
    if (input.accept("S[")) {
        r.kind = target::increment;
        r.object = input.number<std::uint8_t>();
        input.expect("]");
    } else if (input.accept("cc[")) {
        r.kind = target::collective;
        r.object = static_cast<std::uint32_t>(input.number(0, 2));
        collective_cores_.push_back(r.core);
        input.expect("]");
    } else {
        const std::size_t start = input.position();
        const std::string_view name = input.name("a tensor, S[n], control, program, sbuf or cc[n]");
        if (name == "control" || name == "program") {
            r.kind = name == "control" ? target::control : target::program;
            input.expect(".");
            const std::size_t engine_at = input.position();
            const std::string_view engine = input.name("an engine");
            const auto found = std::ranges::find(engine_names, engine);
            if (found == std::end(engine_names))
                input.unknown(engine_at, engine, "an engine", engine_names);
            r.object = static_cast<std::uint32_t>(found - engine_names);
        } else if (name == "sbuf") {
            r.kind = target::sbuf;
        } else {
            r.kind = target::tensor;
            r.core = 0;
            r.object = find_tensor(input, start, name);
        }
    }
    const cursor before = input;
    if (input.accept("+") && input.at_number())  // otherwise a register follows
        r.addend = input.bits64();
    else
        input = before;
    return r;
}

}  // namespace trn::isa
