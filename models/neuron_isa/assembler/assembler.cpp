// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/assembler/assembler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "models/neuron_isa/assembler/collective_queues.h"
#include "models/neuron_isa/assembler/cursor.h"
#include "models/neuron_isa/assembler/directives.h"
#include "models/neuron_isa/assembler/instruction_checks.h"
#include "models/neuron_isa/assembler/instruction_reader.h"
#include "models/neuron_isa/assembler/preprocessor.h"
#include "models/neuron_isa/assembler/start_order.h"
#include "models/neuron_isa/instructions/codec.h"
#include "platform/framework/config/diagnostics.h"

namespace trn::isa {

namespace {

constexpr std::size_t max_words_of_stream = 1 << 20;
constexpr std::size_t max_source_files = 256;
constexpr int max_source_line = 0xff'ffff;

/// All lines of a text.
class source {
public:
    source(std::string_view text, const std::string& file) : text_(text), file_(file) {
        set_.files = {file};
    }

    program_set assemble() {
        preprocess(
            text_, [this](const expanded_line& one) { line(one); },
            [this](const expanded_line& one, const line_error& error) { report(one, error); });
        finish_stream();
        collective_queues_.report(mistakes_);
        mistakes_.throw_if_any();
        if (!semaphores_given_)
            for (const transfer& t : set_.transfers)
                if (t.semaphore)
                    semaphores_.insert(
                        {static_cast<std::uint16_t>(t.semaphore_core), *t.semaphore});
        set_.generation = generation_;
        set_.semaphores.assign(semaphores_.begin(), semaphores_.end());
        return std::move(set_);
    }

private:
    diagnostic placed(const expanded_line& one, const line_error& error) const {
        return {error.code,
                file_,
                one.number,
                static_cast<int>(one.original_column(error.at)) + 1,
                error.message,
                std::string(one.original),
                static_cast<int>(error.length),
                error.suggestion};
    }
    void report(const expanded_line& one, const line_error& error) {
        mistakes_.add(placed(one, error));
    }

    void line(const expanded_line& one) {
        line_ = &one;
        cursor in(one.content());
        try {
            if (!in.at_end()) statement(in);
        } catch (const line_error& error) {
            report(one, error);
        }
        for (const auto& which : names_.take_collective_queues())
            collective_queues_.use(
                which, placed(one, {mistake::refused_by_model, which.at, which.length, {}, {}}));
        for (const unsigned core : names_.take_collective_cores())
            collective_queues_.start(core, one.number);
    }

    void statement(cursor& in) {
        if (in.at_word()) {
            const cursor start = in;
            const std::size_t at = in.position();
            const std::string_view word = in.word("");
            if (in.accept(":")) {
                if (!labels_.emplace(std::string(word), pc()).second)
                    in.fail(mistake::duplicate_name, at, fmt::format("label '{}' again", word));
                if (in.at_end()) return;
            } else if (word.starts_with('.')) {
                return directive(in, at, word);
            } else {
                in = start;
            }
        }
        if (pc() >= max_words_of_stream)
            in.fail(mistake::out_of_range, 0, "a stream has at most 1048576 words");
        const std::size_t at = in.position();
        std::vector<label_use> uses;  // labels used by a line without errors
        instruction_reader reader(in, uses, pc(), line_->number, names_);
        const instruction i = reader.read();
        for (const transfer* t : reader.transfers()) {
            order_.check(*t, set_.transfers, current_.engine.value_or(engine::sync), in, at);
            starts_.push_back({pc(), t->name, at, *line_});
        }
        if (generation_) check_instruction(i, current_.engine, *generation_, reader);
        if (!semaphores_given_) add_semaphores(i, current_.core, reader.relocations(), semaphores_);
        for (relocation r : reader.relocations()) {
            if (!current_.engine)
                in.fail(mistake::wrong_shape, at, "an address by name needs .engine before it");
            r.stream = static_cast<std::uint32_t>(set_.streams.size());
            r.word += static_cast<std::uint32_t>(pc());
            set_.relocations.push_back(r);
        }
        for (label_use& use : uses) {
            uses_.push_back(std::move(use));
            use_lines_.push_back(*line_);
        }
        const bytes word = encode(i);
        emit({word.data(), i.words() * word_bytes});
    }

    void directive(cursor& in, std::size_t at, std::string_view word) {
        if (word == ".engine") {
            begin_engine(in, at);
        } else if (word == ".core") {
            finish_stream();
            current_.core = names_.core = static_cast<unsigned>(in.number(0, max_set_cores - 1));
            names_.need_core(names_.core);
        } else if (word == ".cores") {
            names_.need_core(static_cast<unsigned>(in.number(1, max_set_cores)) - 1);
        } else if (word == ".tensor") {
            names_.read_tensor(in);
        } else if (word == ".transfer") {
            names_.read_transfer(in);
        } else if (word == ".semaphores") {
            if (!semaphores_given_) semaphores_.clear();
            semaphores_given_ = true;
            while (!in.at_end()) semaphores_.insert(names_.read_semaphore(in));
        } else if (word == ".generation") {
            static constexpr std::string_view names[] = {"v2", "v3", "v4"};
            if (generation_) in.fail(mistake::duplicate_key, at, "a text has one .generation");
            generation_ = static_cast<generation>(in.choice(names, "a generation") + 2);
        } else if (word == ".source") {
            read_origin(in);
        } else if (word == ".word") {
            std::array<std::uint8_t, word_bytes> raw{};
            for (unsigned n = 0; n < word_bytes; n += 4) {
                const std::uint32_t value = in.bits32();
                for (unsigned b = 0; b < 4; ++b)
                    raw[n + b] = static_cast<std::uint8_t>(value >> 8 * b);
            }
            emit(raw);
        } else {
            static constexpr std::string_view known[] = {
                ".engine", ".generation", ".word",       ".core", ".cores",  ".tensor", ".transfer",
                ".source", ".set",        ".semaphores", ".if",   ".repeat", ".else",   ".end"};
            in.unknown(at, word, "a directive", known);
        }
        if (!in.at_end()) in.fail(mistake::wrong_shape, in.position(), "nothing expected here");
    }

    /// 12 "kernel.py": source line and file of the words that follow.
    void read_origin(cursor& in) {
        origin_.line = static_cast<int>(in.number(1, max_source_line));
        const std::size_t at = in.position();
        const std::string_view name = in.quoted("the name of a file");
        if (name.size() > max_path_bytes)
            in.fail(mistake::bad_name, at,
                    fmt::format("a path has at most {} bytes", max_path_bytes));
        const auto found = std::ranges::find(set_.files, name);
        if (found == set_.files.end() && set_.files.size() == max_source_files)
            in.fail(mistake::out_of_range, at, "a set names at most 256 files");
        origin_.file = static_cast<std::uint8_t>(found - set_.files.begin());
        if (found == set_.files.end()) set_.files.emplace_back(name);
    }

    void begin_engine(cursor& in, std::size_t at) {
        const std::size_t name_at = in.position();
        const auto which = static_cast<engine>(in.choice(engine_names, "an engine"));
        if (!current_.engine && pc() != 0)
            in.fail(mistake::wrong_shape, at, "instructions stand before the first .engine");
        finish_stream();
        const auto same = [&](const stream& s) {
            return s.engine == which && s.core == names_.core;
        };
        if (std::ranges::any_of(set_.streams, same))
            in.fail(mistake::duplicate_name, name_at, "this engine has a stream already");
        current_.engine = which;
    }

    void emit(std::span<const std::uint8_t> word) {
        current_.words.insert(current_.words.end(), word.begin(), word.end());
        current_.lines.resize(pc(), origin_.line != 0 ? origin_.line : line_->number);
        current_.files.resize(pc(), origin_.file);
    }
    std::size_t pc() const { return current_.words.size() / word_bytes; }

    /// Refuses transfers inside loops: a second pass would ring for descriptors of other transfers.
    void check_loops() {
        const auto field = [this](std::size_t pc, unsigned byte, unsigned size) {
            std::uint32_t value = 0;
            for (unsigned b = 0; b < size; ++b)
                value |= std::uint32_t{current_.words[pc * word_bytes + byte + b]} << 8 * b;
            return value;
        };
        for (std::size_t pc = 0, size = 1; pc < this->pc() && !starts_.empty(); pc += size) {
            const auto code = static_cast<opcode>(field(pc, 0, 2));
            size = (field(pc, 2, 1) & flag::long_form) != 0 ? 2 : 1;
            if (code != opcode::branch && code != opcode::loop) continue;
            const auto target =
                static_cast<std::int64_t>(pc) + static_cast<std::int32_t>(field(pc, 28, 4));
            const auto first = std::ranges::find_if(starts_, [&](const transfer_start& s) {
                return target <= static_cast<std::int64_t>(s.pc) && s.pc <= pc;
            });
            if (first == starts_.end()) continue;
            report(first->line,
                   {mistake::refused_by_model,
                    first->at,
                    1,
                    fmt::format("'{}' is started in a loop: its descriptors are in the ring once; "
                                "unroll the loop with .repeat, or use dge_copy",
                                first->name),
                    {}});
            starts_.clear();
        }
        starts_.clear();
    }

    void finish_stream() {
        for (std::size_t n = 0; n < uses_.size(); ++n) {
            const label_use& use = uses_[n];
            const auto label = labels_.find(use.label);
            if (label == labels_.end()) {
                std::vector<std::string_view> known;
                for (const auto& [name, pc] : labels_) known.emplace_back(name);
                report(use_lines_[n],
                       {mistake::unknown_variable, use.column, use.length,
                        fmt::format("no label '{}' in this stream", use.label),
                        suggest(use.label, std::span<const std::string_view>(known))});
                continue;
            }
            const auto distance = static_cast<std::uint32_t>(label->second - use.pc);
            for (unsigned b = 0; b < 4; ++b)
                current_.words[use.pc * word_bytes + 28 + b] =
                    static_cast<std::uint8_t>(distance >> 8 * b);
        }
        uses_.clear();
        use_lines_.clear();
        labels_.clear();
        check_loops();
        if (current_.engine || pc() != 0) set_.streams.push_back(std::move(current_));
        current_ = {};
        origin_ = {};
        current_.core = names_.core;
    }

    const std::string_view text_;
    const std::string file_;
    const expanded_line* line_ = nullptr;
    std::optional<generation> generation_;
    program_set set_;
    program_names names_{set_};
    stream current_;
    struct {
        int line = 0;  ///< 0: the words come from the text itself
        std::uint8_t file = 0;
    } origin_;  ///< of the words that follow
    start_order order_;
    struct transfer_start {
        std::size_t pc;
        std::string name;
        std::size_t at;
        expanded_line line;
    };
    std::vector<transfer_start> starts_;  ///< of the current stream
    collective_queues collective_queues_;
    semaphore_set semaphores_;  ///< semaphores and events that start at 0
    bool semaphores_given_ = false;
    std::map<std::string, std::size_t, std::less<>> labels_;
    std::vector<label_use> uses_;
    std::vector<expanded_line> use_lines_;
    diagnostics mistakes_;
};

}  // namespace

program_set assemble_set(std::string_view text, const std::string& file) {
    return source(text, file).assemble();
}

std::vector<stream> assemble(std::string_view text, const std::string& file) {
    return std::move(assemble_set(text, file).streams);
}

}  // namespace trn::isa
