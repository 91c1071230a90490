// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/assembler/program_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <new>
#include <string_view>

#include "models/neuron_isa/instructions/table.h"
#include "models/neuron_isa/program_set/program_set.h"
#include "models/neuron_isa/program_set/program_set_regs.h"

namespace trn::isa {

namespace {

namespace layout = program_set_regs;
using layout::reg;

constexpr std::size_t header_bytes = 128;

/// Tables in the order of the header.
enum class table : unsigned {
    streams,
    tensors,
    transfers,
    relocations,
    semaphores,
    lines,
    files,
    strings
};

std::uint32_t begin_of(reg r) {
    return static_cast<std::uint32_t>(layout::offset(r));
}

/// First register of a table's records, and bytes of a record.
struct record_kind {
    reg first;
    std::uint32_t bytes;
};

const record_kind& kind_of(table t) {
    const auto until = [](reg first, reg next) {
        return record_kind{first, begin_of(next) - begin_of(first)};
    };
    static const record_kind kinds[] = {
        until(reg::stream_core, reg::tensor_name),
        until(reg::tensor_name, reg::transfer_name),
        until(reg::transfer_name, reg::relocation_stream),
        until(reg::relocation_stream, reg::semaphore_core),
        until(reg::semaphore_core, reg::line),
        until(reg::line, reg::file_name),
        {reg::file_name, 4},
        {reg::magic_lo, 1},
    };
    return kinds[static_cast<unsigned>(t)];
}

// --- Writing

/// Bytes into which numbers are written.
class image {
public:
    void put(std::size_t offset, std::uint64_t value, unsigned size = 4) {
        for (unsigned i = 0; i < size; ++i)
            bytes_[offset + i] = static_cast<std::uint8_t>(value >> 8 * i);
    }
    std::size_t grow(std::size_t size) {
        const std::size_t offset = bytes_.size();
        bytes_.resize(offset + size);
        return offset;
    }
    void align(std::size_t unit) { bytes_.resize((bytes_.size() + unit - 1) / unit * unit); }
    std::size_t size() const { return bytes_.size(); }
    void append(std::span<const std::uint8_t> more) {
        bytes_.insert(bytes_.end(), more.begin(), more.end());
    }
    std::vector<std::uint8_t> take() { return std::move(bytes_); }

private:
    std::vector<std::uint8_t> bytes_;
};

class writer {
public:
    explicit writer(const program_set& set) : set_(set) {}

    std::vector<std::uint8_t> write() {
        file_.grow(header_bytes);
        header(reg::magic_lo, layout::magic_lo::word_value);
        header(reg::magic_hi, layout::magic_hi::word_value);
        header(reg::version, layout::version::number_value);
        header(reg::generation, set_.generation ? static_cast<unsigned>(*set_.generation) : 0);
        header(reg::cores, set_.cores);
        put_table(table::streams, set_.streams);
        put_table(table::tensors, set_.tensors);
        put_table(table::transfers, set_.transfers);
        put_table(table::relocations, set_.relocations);
        put_table(table::semaphores, set_.semaphores);
        put_lines();
        put_table(table::files, set_.files);
        put_strings();
        put_words();
        header(reg::bytes, file_.size());
        return file_.take();
    }

private:
    void header(reg r, std::uint64_t value) { file_.put(begin_of(r), value); }

    void begin(table t, std::size_t count) {
        table_ = t;
        table_offset_ = file_.grow(count * kind_of(t).bytes);
        const std::uint32_t entry = begin_of(reg::table_offset) + 8 * static_cast<unsigned>(t);
        file_.put(entry, table_offset_);
        file_.put(entry + 4, count);
    }
    std::size_t place(std::size_t i, reg r) const {
        return table_offset_ + i * kind_of(table_).bytes + begin_of(r) -
               begin_of(kind_of(table_).first);
    }
    void field(std::size_t i, reg r, std::uint64_t value) { file_.put(place(i, r), value); }

    std::uint64_t string(const std::string& text) {
        const std::size_t offset = strings_.size();
        strings_ += text;
        strings_ += '\0';
        return offset;
    }

    template <class Record>
    void put_table(table t, const std::vector<Record>& records) {
        begin(t, records.size());
        for (std::size_t i = 0; i < records.size(); ++i) put(i, records[i]);
    }

    void put(std::size_t i, const stream& s) {
        field(i, reg::stream_core, s.core);
        field(i, reg::stream_engine, static_cast<unsigned>(s.engine.value()));
        field(i, reg::stream_words, s.words.size() / word_bytes);
    }

    void put(std::size_t i, const tensor& t) {
        field(i, reg::tensor_name, string(t.name));
        field(i, reg::tensor_type, static_cast<unsigned>(t.type));
        field(i, reg::tensor_role, static_cast<unsigned>(t.role));
        field(i, reg::tensor_core, t.core);
        field(i, reg::tensor_alignment, t.alignment);
        field(i, reg::tensor_rank, t.shape.size());
        for (std::size_t d = 0; d < t.shape.size(); ++d)
            file_.put(place(i, reg::tensor_dimension) + 4 * d, t.shape[d]);
    }

    void put(std::size_t i, const transfer& t) {
        field(i, reg::transfer_name, string(t.name));
        field(i, reg::transfer_core, t.core);
        field(i, reg::transfer_queue, t.queue);
        field(i, reg::transfer_engines, t.engines);
        field(i, reg::transfer_semaphore_core, t.semaphore_core);
        field(i, reg::transfer_semaphore, t.semaphore ? *t.semaphore : SET_NO_SEMAPHORE);
        field(i, reg::transfer_rows, t.rows);
        field(i, reg::transfer_blocks, t.blocks);
        field(i, reg::transfer_bytes, t.bytes);
        for (std::size_t n = 0; n < 2; ++n) {
            const transfer_side& s = t.sides[n];
            const std::size_t base = place(i, reg::transfer_side_kind) + n * 32;
            file_.put(base, static_cast<unsigned>(s.kind));
            file_.put(base + 4, s.object);
            file_.put(base + 8, s.offset, 8);
            file_.put(base + 16, s.row, 8);
            file_.put(base + 24, s.block, 8);
        }
    }

    void put(std::size_t i, const relocation& r) {
        field(i, reg::relocation_stream, r.stream);
        field(i, reg::relocation_word, r.word);
        field(i, reg::relocation_byte, r.byte);
        field(i, reg::relocation_kind, static_cast<unsigned>(r.kind));
        field(i, reg::relocation_core, r.core);
        field(i, reg::relocation_object, r.object);
        file_.put(place(i, reg::relocation_addend_lo), r.addend, 8);
    }

    void put(std::size_t i, const sync_index& s) {
        field(i, reg::semaphore_core, s[0]);
        field(i, reg::semaphore_index, s[1]);
    }

    void put(std::size_t i, const std::string& file) { field(i, reg::file_name, string(file)); }

    void put_lines() {
        std::size_t words = 0;
        for (const stream& s : set_.streams) words += s.words.size() / word_bytes;
        begin(table::lines, set_.files.empty() ? 0 : words);
        std::size_t i = 0;
        for (const stream& s : set_.streams)
            for (std::size_t w = 0; !set_.files.empty() && w < s.words.size() / word_bytes; ++w) {
                const auto line = w < s.lines.size() ? static_cast<std::uint32_t>(s.lines[w]) : 0;
                const std::uint32_t file = w < s.files.size() ? s.files[w] : 0;
                field(i++, reg::line, line < 1 << 24 ? line | file << 24 : file << 24);
            }
    }

    void put_strings() {
        begin(table::strings, strings_.size());
        for (std::size_t i = 0; i < strings_.size(); ++i)
            file_.put(table_offset_ + i, static_cast<std::uint8_t>(strings_[i]), 1);
    }

    void put_words() {
        const std::size_t streams = header_bytes;
        for (std::size_t i = 0; i < set_.streams.size(); ++i) {
            file_.align(word_bytes);
            file_.put(streams + i * kind_of(table::streams).bytes + begin_of(reg::stream_offset) -
                          begin_of(reg::stream_core),
                      file_.size());
            file_.append(set_.streams[i].words);
        }
        file_.align(word_bytes);
    }

    const program_set& set_;
    image file_;
    std::string strings_;
    table table_{};
    std::size_t table_offset_ = 0;
};

// --- Reading

stream stream_of(const ::program_set& set, const set_stream& record) {
    stream s;
    s.core = record.core;
    s.engine = static_cast<engine>(record.engine);
    s.words.assign(record.bytes, record.bytes + std::size_t{record.words} * word_bytes);
    for (std::uint32_t w = 0; set.lines && w < record.words; ++w) {
        const set_line line = trn_set_line(&set, &record, w);
        s.lines.push_back(static_cast<int>(line.number));
        s.files.push_back(static_cast<std::uint8_t>(line.file));
    }
    return s;
}

tensor tensor_of(const set_tensor& record) {
    return {.name = record.name,
            .type = static_cast<numerics::element>(record.type),
            .role = static_cast<tensor_role>(record.role),
            .core = record.core,
            .alignment = record.alignment,
            .shape = {record.dimensions, record.dimensions + record.rank}};
}

transfer transfer_of(const set_transfer& record) {
    transfer t{.name = record.name,
               .core = record.core,
               .queue = record.queue,
               .engines = static_cast<std::uint16_t>(record.engines),
               .semaphore_core = record.semaphore_core,
               .rows = record.rows,
               .blocks = record.blocks,
               .bytes = record.bytes};
    if (record.semaphore != SET_NO_SEMAPHORE)
        t.semaphore = static_cast<std::uint8_t>(record.semaphore);
    for (std::size_t n = 0; n < t.sides.size(); ++n) {
        const set_side& side = record.sides[n];
        t.sides[n] = {static_cast<transfer_side::memory>(side.memory), side.object, side.offset,
                      side.row, side.block};
    }
    return t;
}

relocation relocation_of(const set_relocation& record) {
    return {
        record.stream, record.word,   record.byte,  static_cast<relocation::target>(record.target),
        record.core,   record.object, record.addend};
}

}  // namespace

std::uint64_t transfer::descriptors_of(unsigned n, unsigned count) const {
    const std::uint64_t mine =
        std::uint64_t{rows} * (n + 1) / count - std::uint64_t{rows} * n / count;
    const std::uint64_t pieces =
        (std::uint64_t{bytes} + max_descriptor_bytes - 1) / max_descriptor_bytes;
    const std::uint64_t per_row = blocks * pieces;
    if (mine != 0 && per_row > too_many_descriptors / mine) return too_many_descriptors;
    return mine * per_row + (semaphore ? 1 : 0);
}

bool transfer::uses(unsigned e) const {
    if ((engines >> e & 1) == 0) return false;
    const auto before = static_cast<unsigned>(std::popcount(engines & ((1u << e) - 1)));
    return descriptors_of(before, static_cast<unsigned>(std::popcount(engines))) != 0;
}

bool is_program_set(std::span<const std::uint8_t> file) {
    constexpr std::string_view magic("TRNPSET\0", 8);
    return file.size() >= magic.size() &&
           std::equal(magic.begin(), magic.end(), file.begin(),
                      [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

std::vector<std::uint8_t> write_program_set(const program_set& set) {
    return writer(set).write();
}

program_set read_program_set(std::span<const std::uint8_t> file) {
    ::program_set read;
    char why[256];
    const auto fault = trn_set_read(file.data(), file.size(), nullptr, &read, why, sizeof why);
    if (fault == SET_NO_MEMORY) throw std::bad_alloc();
    if (fault != SET_OK) throw program_set_error(fmt::format("program set: {}", why));
    const std::unique_ptr<::program_set, decltype(&trn_set_free)> owner(&read, trn_set_free);
    program_set set;
    if (read.generation != 0) set.generation = static_cast<isa::generation>(read.generation);
    set.cores = read.cores;
    for (const auto& each : std::span(read.streams, read.stream_count))
        set.streams.push_back(stream_of(read, each));
    for (const auto& each : std::span(read.tensors, read.tensor_count))
        set.tensors.push_back(tensor_of(each));
    for (const auto& each : std::span(read.transfers, read.transfer_count))
        set.transfers.push_back(transfer_of(each));
    for (const auto& each : std::span(read.relocations, read.relocation_count))
        set.relocations.push_back(relocation_of(each));
    for (const auto& each : std::span(read.semaphores, read.semaphore_count))
        set.semaphores.push_back(
            {static_cast<std::uint16_t>(each.core), static_cast<std::uint16_t>(each.index)});
    set.files.assign(read.files, read.files + read.file_count);
    return set;
}

}  // namespace trn::isa
