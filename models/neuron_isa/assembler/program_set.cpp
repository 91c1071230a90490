// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/assembler/program_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string_view>

#include "models/neuron_isa/assembler/program_set_regs.h"
#include "models/neuron_isa/instructions/table.h"

namespace trn::isa {

namespace {

namespace layout = program_set_regs;
using layout::reg;

constexpr std::size_t header_bytes = 128;
constexpr std::size_t max_file_bytes = 256 << 20;
constexpr std::uint32_t no_semaphore = ~0u;

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

/// First register of a kind of record, the register after its last, and the maximum count.
struct record_kind {
    reg first;
    std::uint32_t end;
    std::uint32_t max;
    std::string_view name;

    std::uint32_t bytes() const { return end - static_cast<std::uint32_t>(layout::offset(first)); }
};

std::uint32_t begin_of(reg r) {
    return static_cast<std::uint32_t>(layout::offset(r));
}

const record_kind& kind_of(table t) {
    static const record_kind kinds[] = {
        {reg::stream_core, begin_of(reg::tensor_name), max_set_cores * engine_count, "streams"},
        {reg::tensor_name, begin_of(reg::transfer_name), 1 << 14, "tensors"},
        {reg::transfer_name, begin_of(reg::relocation_stream), 1 << 18, "transfers"},
        {reg::relocation_stream, begin_of(reg::semaphore_core), 1 << 20, "relocations"},
        {reg::semaphore_core, begin_of(reg::line), max_set_cores * 2 * first_event, "semaphores"},
        {reg::line, begin_of(reg::file_name), 1 << 25, "lines"},
        {reg::file_name, begin_of(reg::file_name) + 4, 256, "files"},
        {reg::magic_lo, 1, 16 << 20, "bytes of strings"},
    };
    return kinds[static_cast<unsigned>(t)];
}

// --- Writing

/// Bytes into which numbers are written.
class image {
public:
    void put(std::size_t at, std::uint64_t value, unsigned size = 4) {
        for (unsigned i = 0; i < size; ++i)
            bytes_[at + i] = static_cast<std::uint8_t>(value >> 8 * i);
    }
    std::size_t grow(std::size_t by) {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + by);
        return at;
    }
    void align(std::size_t to) { bytes_.resize((bytes_.size() + to - 1) / to * to); }
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
        begin(table::streams, set_.streams.size());
        for (std::size_t i = 0; i < set_.streams.size(); ++i) {
            const stream& s = set_.streams[i];
            field(i, reg::stream_core, s.core);
            field(i, reg::stream_engine, static_cast<unsigned>(s.engine.value()));
            field(i, reg::stream_words, s.words.size() / word_bytes);
        }
        begin(table::tensors, set_.tensors.size());
        for (std::size_t i = 0; i < set_.tensors.size(); ++i) put(i, set_.tensors[i]);
        begin(table::transfers, set_.transfers.size());
        for (std::size_t i = 0; i < set_.transfers.size(); ++i) put(i, set_.transfers[i]);
        begin(table::relocations, set_.relocations.size());
        for (std::size_t i = 0; i < set_.relocations.size(); ++i) put(i, set_.relocations[i]);
        begin(table::semaphores, set_.semaphores.size());
        for (std::size_t i = 0; i < set_.semaphores.size(); ++i) {
            field(i, reg::semaphore_core, set_.semaphores[i][0]);
            field(i, reg::semaphore_index, set_.semaphores[i][1]);
        }
        put_lines();
        put_strings();
        put_words();
        header(reg::bytes, file_.size());
        return file_.take();
    }

private:
    void header(reg r, std::uint64_t value) { file_.put(begin_of(r), value); }

    void begin(table t, std::size_t count) {
        now_ = t;
        at_ = file_.grow(count * kind_of(t).bytes());
        const std::uint32_t entry = begin_of(reg::table_offset) + 8 * static_cast<unsigned>(t);
        file_.put(entry, at_);
        file_.put(entry + 4, count);
    }
    std::size_t place(std::size_t i, reg r) const {
        return at_ + i * kind_of(now_).bytes() + begin_of(r) - begin_of(kind_of(now_).first);
    }
    void field(std::size_t i, reg r, std::uint64_t value) { file_.put(place(i, r), value); }
    void wide(std::size_t i, reg low, std::uint64_t value) { file_.put(place(i, low), value, 8); }

    std::uint64_t string(const std::string& text) {
        const std::size_t at = strings_.size();
        strings_ += text;
        strings_ += '\0';
        return at;
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
        field(i, reg::transfer_semaphore, t.semaphore ? *t.semaphore : no_semaphore);
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
        wide(i, reg::relocation_addend_lo, r.addend);
    }

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
        begin(table::files, set_.files.size());
        for (std::size_t f = 0; f < set_.files.size(); ++f)
            field(f, reg::file_name, string(set_.files[f]));
    }

    void put_strings() {
        begin(table::strings, strings_.size());
        for (std::size_t i = 0; i < strings_.size(); ++i)
            file_.put(at_ + i, static_cast<std::uint8_t>(strings_[i]), 1);
    }

    void put_words() {
        const std::size_t streams = header_bytes;
        for (std::size_t i = 0; i < set_.streams.size(); ++i) {
            file_.align(word_bytes);
            file_.put(streams + i * kind_of(table::streams).bytes() + begin_of(reg::stream_offset) -
                          begin_of(reg::stream_core),
                      file_.size());
            file_.append(set_.streams[i].words);
        }
        file_.align(word_bytes);
    }

    const program_set& set_;
    image file_;
    std::string strings_;
    table now_{};
    std::size_t at_ = 0;
};

// --- Reading

class file_reader {
public:
    explicit file_reader(std::span<const std::uint8_t> file) : file_(file) {}

    program_set read() {
        header();
        for (std::size_t i = 0; i < begin(table::streams); ++i) read_stream(i);
        for (std::size_t i = 0; i < begin(table::tensors); ++i) read_tensor(i);
        for (std::size_t i = 0; i < begin(table::transfers); ++i) read_transfer(i);
        for (std::size_t i = 0; i < begin(table::relocations); ++i) read_relocation(i);
        for (std::size_t i = 0; i < begin(table::semaphores); ++i)
            set_.semaphores.push_back({static_cast<std::uint16_t>(core(i, reg::semaphore_core)),
                                       static_cast<std::uint16_t>(below(
                                           i, reg::semaphore_index, 2 * first_event, "index"))});
        for (std::size_t i = 0; i < begin(table::files); ++i)
            set_.files.push_back(string(i, reg::file_name, max_path_bytes));
        read_lines();
        return std::move(set_);
    }

private:
    template <typename... T>
    [[noreturn]] static void fail(fmt::format_string<T...> format, T&&... values) {
        throw program_set_error(fmt::format(format, std::forward<T>(values)...));
    }

    std::uint64_t number(std::size_t at, unsigned size = 4) const {
        std::uint64_t value = 0;
        for (unsigned i = 0; i < size; ++i) value |= std::uint64_t{file_[at + i]} << 8 * i;
        return value;
    }
    std::uint32_t header(reg r) const { return static_cast<std::uint32_t>(number(begin_of(r))); }

    void header() {
        if (!is_program_set(file_) || file_.size() < header_bytes)
            fail("not a program set: it does not begin with TRNPSET");
        if (header(reg::version) != layout::version::number_value)
            fail("program set of version {}, expected {}: assemble it again", header(reg::version),
                 layout::version::number_value);
        if (header(reg::bytes) != file_.size() || file_.size() > max_file_bytes)
            fail("its header says {} bytes, the file has {}", header(reg::bytes), file_.size());
        const std::uint32_t generation = header(reg::generation);
        if (generation == 1 || generation > 4)
            fail("generation {}, expected 0 or 2 to 4", generation);
        if (generation != 0) set_.generation = static_cast<isa::generation>(generation);
        set_.cores = header(reg::cores);
        if (set_.cores == 0 || set_.cores > max_set_cores)
            fail("{} cores, expected 1 to {}", set_.cores, max_set_cores);
    }

    /// Selects a table. \returns its number of records, all of which are inside the file
    std::size_t begin(table t) {
        now_ = t;
        const record_kind& kind = kind_of(t);
        const std::uint32_t entry = begin_of(reg::table_offset) + 8 * static_cast<unsigned>(t);
        at_ = number(entry);
        const std::uint64_t count = number(entry + 4);
        if (count > kind.max) fail("{} {}, at most {} are possible", count, kind.name, kind.max);
        if (at_ > file_.size() || count * kind.bytes() > file_.size() - at_)
            fail("its {} are not inside the file", kind.name);
        return static_cast<std::size_t>(count);
    }

    std::size_t place(std::size_t i, reg r) const {
        return at_ + i * kind_of(now_).bytes() + begin_of(r) - begin_of(kind_of(now_).first);
    }
    std::uint32_t field(std::size_t i, reg r) const {
        return static_cast<std::uint32_t>(number(place(i, r)));
    }
    std::uint32_t below(std::size_t i, reg r, std::uint64_t bound, std::string_view noun) const {
        const std::uint32_t value = field(i, r);
        if (value >= bound)
            fail("{} {}: {} is {}, expected less than {}", kind_of(now_).name, i, noun, value,
                 bound);
        return value;
    }
    std::uint32_t core(std::size_t i, reg r) const { return below(i, r, set_.cores, "core"); }

    std::string string(std::size_t i, reg r, std::size_t max = max_name_bytes) const {
        const std::uint32_t entry =
            begin_of(reg::table_offset) + 8 * static_cast<unsigned>(table::strings);
        const std::uint64_t base = number(entry), size = number(entry + 4), at = field(i, r);
        if (base > file_.size() || size > file_.size() - base || at >= size)
            fail("{} {}: its name is outside the strings", kind_of(now_).name, i);
        // Records may share a string, so its length is limited before it is copied.
        const auto rest = file_.subspan(base + at, std::min<std::uint64_t>(size - at, max + 1));
        const auto end = std::ranges::find(rest, std::uint8_t{0});
        if (end == rest.end())
            fail("{} {}: its name does not end within {} bytes", kind_of(now_).name, i, max);
        return {rest.begin(), end};
    }

    void read_stream(std::size_t i) {
        stream s;
        s.core = core(i, reg::stream_core);
        s.engine = static_cast<engine>(below(i, reg::stream_engine, engine_count, "engine"));
        for (const stream& other : set_.streams)
            if (other.core == s.core && other.engine == s.engine)
                fail("two streams for engine {} of core {}", name_of(*s.engine), s.core);
        const std::uint64_t offset = field(i, reg::stream_offset),
                            size = std::uint64_t{field(i, reg::stream_words)} * word_bytes;
        if (offset % word_bytes != 0 || offset > file_.size() || size > file_.size() - offset)
            fail("stream {}: its words are not inside the file", i);
        stream_bytes_ += size;
        if (stream_bytes_ > file_.size()) fail("stream {}: it shares words with another one", i);
        const auto words = file_.subspan(offset, size);
        s.words.assign(words.begin(), words.end());
        set_.streams.push_back(std::move(s));
    }

    void read_tensor(std::size_t i) {
        tensor t;
        t.name = string(i, reg::tensor_name);
        t.type = static_cast<numerics::element>(
            below(i, reg::tensor_type, numerics::all_element_kinds, "type"));
        t.role = static_cast<tensor_role>(below(i, reg::tensor_role, 4, "role"));
        t.core = core(i, reg::tensor_core);
        t.alignment = field(i, reg::tensor_alignment);
        if (!std::has_single_bit(t.alignment))
            fail("tensor {}: its alignment is no power of two", i);
        const std::uint32_t rank = below(i, reg::tensor_rank, max_tensor_rank + 1, "rank");
        std::uint64_t bytes = size_of(t.type);
        for (std::uint32_t d = 0; d < rank; ++d) {
            t.shape.push_back(static_cast<std::uint32_t>(
                number(place(i, reg::tensor_dimension) + 4 * std::size_t{d})));
            // Each factor is limited before the multiplication.
            if (t.shape.back() == 0 || t.shape.back() > (max_tensor_bytes - 1) / bytes)
                fail("tensor {}: expected 1 byte to 1 TiB", i);
            bytes *= t.shape.back();
        }
        set_.tensors.push_back(std::move(t));
    }

    void read_transfer(std::size_t i) {
        transfer t;
        t.name = string(i, reg::transfer_name);
        t.core = core(i, reg::transfer_core);
        t.queue = below(i, reg::transfer_queue, transfer_queues, "queue");
        t.engines = static_cast<std::uint16_t>(
            below(i, reg::transfer_engines, 1 << dma_engines_of_core, "map of engines"));
        t.semaphore_core = core(i, reg::transfer_semaphore_core);
        if (field(i, reg::transfer_semaphore) != no_semaphore)
            t.semaphore =
                static_cast<std::uint8_t>(below(i, reg::transfer_semaphore, 256, "semaphore"));
        t.rows = field(i, reg::transfer_rows);
        t.blocks = field(i, reg::transfer_blocks);
        t.bytes = field(i, reg::transfer_bytes);
        for (std::size_t n = 0; n < 2; ++n) {
            transfer_side& s = t.sides[n];
            const std::size_t base = place(i, reg::transfer_side_kind) + n * 32;
            const std::uint64_t kind = number(base), object = number(base + 4);
            const std::size_t objects = kind == 0 ? set_.tensors.size() : set_.cores;
            if (kind > 2 || object >= objects) fail("transfer {}: side {} is not known", i, n);
            s.kind = static_cast<transfer_side::memory>(kind);
            s.object = static_cast<std::uint32_t>(object);
            s.offset = number(base + 8, 8);
            s.row = number(base + 16, 8);
            s.block = number(base + 24, 8);
        }
        set_.transfers.push_back(std::move(t));
    }

    void read_relocation(std::size_t i) {
        relocation r;
        r.stream = below(i, reg::relocation_stream, set_.streams.size(), "stream");
        r.word = below(i, reg::relocation_word, set_.streams[r.stream].words.size() / word_bytes,
                       "word");
        r.byte = below(i, reg::relocation_byte, word_bytes - 7, "byte");
        r.kind = static_cast<relocation::target>(below(i, reg::relocation_kind, 6, "kind"));
        r.core = core(i, reg::relocation_core);
        r.object = field(i, reg::relocation_object);
        if (r.kind == relocation::target::tensor)
            below(i, reg::relocation_object, set_.tensors.size(), "tensor");
        r.addend = number(place(i, reg::relocation_addend_lo), 8);
        set_.relocations.push_back(r);
    }

    void read_lines() {
        const std::size_t count = begin(table::lines);
        std::size_t words = 0, i = 0;
        for (const stream& s : set_.streams) words += s.words.size() / word_bytes;
        if (count == 0) return;
        if (count != words) fail("{} lines of {} words", count, words);
        for (stream& s : set_.streams)
            for (std::size_t w = 0; w < s.words.size() / word_bytes; ++w, ++i) {
                const std::uint32_t file = field(i, reg::line) >> 24;
                if (file >= set_.files.size()) fail("word {}: there is no file {}", i, file);
                s.lines.push_back(static_cast<int>(field(i, reg::line) & 0xffffff));
                s.files.push_back(static_cast<std::uint8_t>(file));
            }
    }

    std::span<const std::uint8_t> file_;
    program_set set_;
    std::uint64_t stream_bytes_ = 0;
    table now_{};
    std::size_t at_ = 0;
};

}  // namespace

std::uint64_t tensor::bytes() const {
    std::uint64_t all = size_of(type);
    for (const std::uint32_t size : shape) all *= size;
    return all;
}

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
    return file_reader(file).read();
}

}  // namespace trn::isa
