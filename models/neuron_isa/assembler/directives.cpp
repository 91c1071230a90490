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

unsigned program_names::read_queue(cursor& in, unsigned max) {
    const std::size_t at = in.position();
    const auto queue = static_cast<unsigned>(in.number(0, max));
    if (queue >= first_collective_queue && queue <= last_collective_queue)
        collective_queues_.push_back({core, queue, at, 1});
    return queue;
}

std::string program_names::new_name(cursor& in, std::string_view expected) const {
    const std::size_t at = in.position();
    const std::string_view name = in.name(expected);
    if (name.size() > max_name_bytes)
        in.fail(mistake::bad_name, at,
                fmt::format("a name has at most {} letters", max_name_bytes));
    if (std::ranges::find(reserved, name) != std::end(reserved) ||
        (name.starts_with("core") && name.size() == 5 && is_digit(name[4])))
        in.fail(mistake::bad_name, at, fmt::format("'{}' has a meaning of its own here", name));
    if (tensors_.contains(name) || transfers_.contains(name))
        in.fail(mistake::duplicate_name, at, fmt::format("'{}' is declared already", name));
    return std::string(name);
}

std::uint32_t program_names::find_tensor(cursor& in, std::size_t at, std::string_view name) const {
    if (const auto found = tensors_.find(name); found != tensors_.end()) return found->second;
    in.fail(mistake::unknown_variable, at, fmt::format("no tensor '{}' is declared above", name),
            suggest(name, names_in(tensors_)));
}

const transfer& program_names::read_transfer_name(cursor& in) const {
    const std::size_t at = in.position();
    const std::string_view name = in.name("the name of a transfer");
    if (const auto found = transfers_.find(name); found != transfers_.end())
        return set_.transfers[found->second];
    in.fail(mistake::unknown_variable, at, fmt::format("no transfer '{}' is declared above", name),
            suggest(name, names_in(transfers_)));
}

unsigned program_names::read_core(cursor& in) {
    const cursor before = in;
    if (in.accept("core") && in.at_number()) {
        const auto number = static_cast<unsigned>(in.number(0, max_set_cores - 1));
        in.expect(".");
        need_core(number);
        return number;
    }
    in = before;
    return core;
}

sync_index program_names::read_semaphore(cursor& in) {
    const unsigned of = read_core(in);
    const bool event = in.accept("E[");
    if (!event) in.expect("S[");
    const unsigned index = in.number<std::uint8_t>();
    in.expect("]");
    return {static_cast<std::uint16_t>(of),
            static_cast<std::uint16_t>(event ? first_event + index : index)};
}

void program_names::read_tensor(cursor& in) {
    tensor t;
    t.name = new_name(in, "the name of the tensor");
    t.core = core;
    t.type = in.element_type();
    in.expect("[");
    std::uint64_t bytes = size_of(t.type);
    do {
        const std::size_t at = in.position();
        if (t.shape.size() == max_tensor_rank)
            in.fail(mistake::out_of_range, at, "a tensor has at most 8 dimensions");
        t.shape.push_back(static_cast<std::uint32_t>(in.number(1, 0xffffffff)));
        const bool fits = t.shape.back() <= (max_tensor_bytes - 1) / bytes;
        bytes *= t.shape.back();
        if (!fits) in.fail(mistake::out_of_range, at, "a tensor has less than 1 TiB");
    } while (in.accept(","));
    in.expect("]");
    t.role = static_cast<tensor_role>(in.choice(role_words, "a role of a tensor"));
    std::vector<std::string_view> given;
    while (!in.at_end()) {
        static constexpr std::string_view keys[] = {"align", "core"};
        const std::size_t at = in.position();
        const unsigned key = in.choice(keys, "an option of a tensor");
        in.once(given, at, keys[key]);
        in.expect("=");
        if (key == 0) {
            t.alignment = static_cast<std::uint32_t>(in.number(1, 1 << 30));
            if (!std::has_single_bit(t.alignment))
                in.fail(mistake::misaligned, at, "the alignment is a power of two");
        } else {
            t.core = static_cast<unsigned>(in.number(0, max_set_cores - 1));
            need_core(t.core);
        }
    }
    tensors_[t.name] = static_cast<std::uint32_t>(set_.tensors.size());
    set_.tensors.push_back(std::move(t));
}

/// Reads "sbuf[0:128, 4096]" or "sbuf[0:128, 4096, 1024]", with 1024 bytes from block to block.
program_names::rows_of_blocks program_names::read_tile(cursor& in, unsigned of,
                                                       transfer_side::memory kind) {
    rows_of_blocks r;
    r.side.kind = kind;
    r.side.object = of;
    r.side.row = static_cast<std::uint64_t>(in.number(0, max_partitions - 1));
    in.expect(":");
    const std::size_t at = in.position();
    const auto end = static_cast<std::uint64_t>(in.number(1, max_partitions));
    if (end <= r.side.row)
        in.fail(mistake::out_of_range, at, "the last partition is before the first");
    r.partitions = static_cast<std::uint32_t>(end - r.side.row);
    in.expect(",");
    r.side.offset = static_cast<std::uint64_t>(in.number(0, 0x3ffff));
    if (in.accept(",")) r.pitch = static_cast<std::uint64_t>(in.number(1, 0x3ffff));
    in.expect("]");
    return r;
}

/// Reads "x", "x[0:128, 5, 0:64]" or "x@(64, 1024, 0)": first byte, row stride, block stride.
program_names::rows_of_blocks program_names::read_slice(cursor& in) {
    const std::size_t at = in.position();
    rows_of_blocks r;
    r.side.object = find_tensor(in, at, in.name("a tensor, sbuf[...] or psum[...]"));
    const tensor& t = set_.tensors[r.side.object];
    std::uint64_t stride = r.element = size_of(t.type);
    for (std::size_t d = t.shape.size(); d-- > 0; stride *= t.shape[d])
        r.dimensions.insert(r.dimensions.begin(), {t.shape[d], stride});
    if (in.accept("@(")) {
        r.side.offset = in.bits64();
        in.expect(",");
        r.side.row = in.bits64();
        in.expect(",");
        r.side.block = in.bits64();
        in.expect(")");
        r.is_raw = true;
        return r;
    }
    if (!in.accept("[")) return r;
    bool has_range = false;
    for (std::size_t d = 0; d < r.dimensions.size(); ++d) {
        if (d != 0) in.expect(",");
        const std::size_t index_at = in.position();
        const auto size = static_cast<std::int64_t>(t.shape[d]);
        const std::int64_t first = in.number(0, size - 1);
        const bool is_range = in.accept(":");
        const std::int64_t end = is_range ? in.number(1, size) : first + 1;
        if (end <= first) in.fail(mistake::out_of_range, index_at, "the end is before the begin");
        if (is_range && !std::exchange(has_range, true)) r.first_range = d;
        r.dimensions[d].count = static_cast<std::uint64_t>(end - first);
        r.side.offset += static_cast<std::uint64_t>(first) * r.dimensions[d].stride;
    }
    if (!has_range) r.first_range = r.dimensions.size();
    in.expect("]");
    return r;
}

program_names::rows_of_blocks program_names::read_side(cursor& in) {
    const cursor before = in;
    const unsigned of = read_core(in);
    if (in.accept("sbuf[")) return read_tile(in, of, transfer_side::memory::sbuf);
    if (in.accept("psum[")) return read_tile(in, of, transfer_side::memory::psum);
    in = before;
    return read_slice(in);
}

/// Reads "(rows, blocks, bytes)".
bool program_names::read_shape(cursor& in, transfer& t) {
    in.expect("(");
    t.rows = static_cast<std::uint32_t>(in.number(1, 0xffffffff));
    in.expect(",");
    t.blocks = static_cast<std::uint32_t>(in.number(1, 0xffffffff));
    in.expect(",");
    t.bytes = static_cast<std::uint32_t>(in.number(1, 0xffffffff));
    in.expect(")");
    return true;
}

void program_names::read_options(cursor& in, transfer& t, rows_of_blocks (&sides)[2]) {
    const std::size_t begin = in.position();
    std::optional<std::size_t> row;
    std::optional<std::uint64_t> bytes;
    bool broadcast = false, has_shape = false;
    std::vector<std::string_view> given;
    while (!in.at_end()) {
        const std::size_t at = in.position();
        const cursor before = in;
        const unsigned of = read_core(in);
        if (in.accept("S[")) {
            in.once(given, at, "S[n]");
            t.semaphore_core = of;
            t.semaphore = in.number<std::uint8_t>();
            in.expect("]");
            continue;
        }
        in = before;
        static constexpr std::string_view keys[] = {"queue", "engines",   "rows",
                                                    "bytes", "broadcast", "shape"};
        const unsigned key = in.choice(keys, "an option of a transfer");
        in.once(given, at, keys[key]);
        if (key != 4) in.expect("=");
        if (key == 0)
            t.queue = read_queue(in, transfer_queues - 1);
        else if (key == 1)
            t.engines = static_cast<std::uint16_t>(in.number(1, 0xffff));
        else if (key == 2)
            row = static_cast<std::size_t>(in.number(0, max_tensor_rank - 1));
        else if (key == 3)
            bytes = static_cast<std::uint64_t>(in.number(1, 0xffffffff));
        else if (key == 4)
            broadcast = true;
        else
            has_shape = read_shape(in, t);
    }
    if (!row && !bytes && !has_shape &&
        split_evenly(static_cast<unsigned>(std::popcount(t.engines)), sides))
        return;
    for (rows_of_blocks& s : sides) {
        if (s.is_raw && !has_shape)
            in.fail(mistake::missing_key, begin, "strides need shape=(rows, blocks, bytes)");
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
            in.fail(mistake::out_of_range, begin, "the tensor has no such dimension for 'rows'");
        if (!s.join(mine))
            in.fail(mistake::wrong_shape, begin,
                    "a row is more than blocks of contiguous bytes: use several transfers");
        s.partitions = mine ? static_cast<std::uint32_t>(s.dimensions[*mine].count)
                            : (broadcast && !other.is_tensor() ? other.partitions : 1);
        s.side.row = mine ? s.dimensions[*mine].stride : 0;
        if (bytes && s.bytes * s.blocks != *bytes)
            in.fail(mistake::out_of_range, begin,
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

void program_names::lay_out(cursor& in, std::size_t at, transfer& t, rows_of_blocks (&sides)[2]) {
    auto& [from, to] = sides;
    if (from.partitions != to.partitions)
        in.fail(mistake::out_of_range, at,
                fmt::format("{} rows go to {} rows", from.partitions, to.partitions));
    rows_of_blocks& finer = from.blocks >= to.blocks ? from : to;
    rows_of_blocks& other = &finer == &from ? to : from;
    if (finer.bytes == 0) finer.bytes = other.bytes;
    if (finer.bytes == 0)
        in.fail(mistake::missing_key, at, "between two tiles, bytes= says how many of a partition");
    const bool same = other.blocks == finer.blocks && other.bytes == finer.bytes;
    if (!same) {
        const bool splits =
            other.blocks == 1 && (other.bytes == 0 || other.bytes == finer.bytes * finer.blocks);
        if (!splits)
            in.fail(mistake::out_of_range, at,
                    fmt::format("rows of {} x {} bytes go to rows of {} x {} bytes", from.blocks,
                                from.bytes, to.blocks, to.bytes));
        other.side.block = finer.bytes;
    }
    for (rows_of_blocks* s : {&from, &to}) {
        if (s->pitch) s->side.block = *s->pitch;
        if (!s->is_tensor() && s->side.block == 0) s->side.block = finer.bytes;
        if (finer.blocks == 1) s->side.block = 0;
    }
    if (finer.bytes > 0xffffffff || finer.blocks > 0xffffffff)
        in.fail(mistake::out_of_range, at, "a block has less than 4 GiB");
    t.rows = from.partitions;
    t.blocks = static_cast<std::uint32_t>(finer.blocks);
    t.bytes = static_cast<std::uint32_t>(finer.bytes);
    t.sides = {from.side, to.side};
}

void program_names::read_transfer(cursor& in) {
    transfer t;
    const std::size_t name_at = in.position();
    t.name = new_name(in, "the name of the transfer");
    t.core = core;
    const std::size_t at = in.position();
    rows_of_blocks sides[2];
    sides[0] = read_side(in);
    in.expect("->");
    sides[1] = read_side(in);
    read_options(in, t, sides);
    lay_out(in, at, t, sides);
    const auto count = static_cast<unsigned>(std::popcount(t.engines));
    for (unsigned n = 0; n < count; ++n)
        if (t.descriptors_of(n, count) > max_doorbell)
            in.fail(mistake::out_of_range, name_at,
                    fmt::format("an engine would get {} descriptors, at most {} are possible",
                                t.descriptors_of(n, count), max_doorbell));
    transfers_[t.name] = static_cast<std::uint32_t>(set_.transfers.size());
    set_.transfers.push_back(std::move(t));
}

relocation program_names::read_address(cursor& in) {
    using target = relocation::target;
    relocation r;
    r.core = read_core(in);
    if (in.accept("S[")) {
        r.kind = target::increment;
        r.object = in.number<std::uint8_t>();
        in.expect("]");
    } else if (in.accept("cc[")) {
        r.kind = target::collective;
        r.object = static_cast<std::uint32_t>(in.number(0, 2));
        collective_cores_.push_back(r.core);
        in.expect("]");
    } else {
        const std::size_t at = in.position();
        const std::string_view name = in.name("a tensor, S[n], control, program, sbuf or cc[n]");
        if (name == "control" || name == "program") {
            r.kind = name == "control" ? target::control : target::program;
            in.expect(".");
            const std::size_t engine_at = in.position();
            const std::string_view engine = in.name("an engine");
            const auto found = std::ranges::find(engine_names, engine);
            if (found == std::end(engine_names))
                in.unknown(engine_at, engine, "an engine", engine_names);
            r.object = static_cast<std::uint32_t>(found - engine_names);
        } else if (name == "sbuf") {
            r.kind = target::sbuf;
        } else {
            r.kind = target::tensor;
            r.core = 0;
            r.object = find_tensor(in, at, name);
        }
    }
    const cursor before = in;
    if (in.accept("+") && in.at_number())  // otherwise a register follows
        r.addend = in.bits64();
    else
        in = before;
    return r;
}

}  // namespace trn::isa
