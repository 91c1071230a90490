// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/assembler/assembler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
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
#include "models/neuron_isa/assembler/stream_builder.h"
#include "models/neuron_isa/instructions/codec.h"
#include "platform/framework/config/diagnostics.h"

namespace trn::isa {

namespace {

constexpr std::size_t max_words_of_stream = 1 << 20;
constexpr std::size_t max_source_files = 256;
constexpr int max_source_line = 0xff'ffff;

/// Reads the lines of a text into a program set.
class text_reader {
public:
    text_reader(std::string_view text, const std::string& file) : text_(text), file_(file) {
        set_.files = {file};
    }

    program_set read() {
        preprocess(
            text_, [this](const expanded_line& line) { read_line(line); }, report_);
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
    /// Line and file that words were made from.
    struct origin {
        int line = 0;  ///< 0: the words come from the text itself
        std::uint8_t file = 0;
    };

    /// The error in its line.
    diagnostic placed(const expanded_line& line, const line_error& error) const {
        diagnostic mistaken{error.code,
                            file_,
                            line.number,
                            static_cast<int>(line.original_column(error.column)) + 1,
                            error.message,
                            std::string(line.original),
                            static_cast<int>(error.length),
                            error.suggestion};
        const auto next = origins_.upper_bound(line.number);
        const origin source = next == origins_.begin() ? origin{} : std::prev(next)->second;
        if (source.line != 0) {
            mistaken.origin_file = set_.files[source.file];
            mistaken.origin_line = source.line;
        }
        return mistaken;
    }

    /// From this line on.
    void set_origin(const origin& source) {
        origin_ = source;
        origins_[line_->number] = source;
    }

    void read_line(const expanded_line& line) {
        line_ = &line;
        cursor input(line.content());
        try {
            if (!input.at_end()) statement(input);
        } catch (const line_error& error) {
            report_(line, error);
        }
        for (const auto& used : names_.take_collective_queues())
            collective_queues_.use(
                used, placed(line, {mistake::refused_by_model, used.column, used.length, {}, {}}));
        for (const unsigned core : names_.take_collective_cores())
            collective_queues_.start(core, line.number);
    }

    void statement(cursor& input) {
        if (input.at_word()) {
            const cursor before = input;
            const std::size_t start = input.position();
            const std::string_view word = input.word("");
            if (input.accept(":")) {
                if (!stream_.add_label(word))
                    input.fail(mistake::duplicate_name, start,
                               fmt::format("label '{}' again", word));
                if (input.at_end()) return;
            } else if (word.starts_with('.')) {
                return directive(input, start, word);
            } else {
                input = before;
            }
        }
        if (stream_.pc() >= max_words_of_stream)
            input.fail(mistake::out_of_range, 0, "a stream has at most 1048576 words");
        read_instruction(input);
    }

    void read_instruction(cursor& input) {
        const std::size_t start = input.position();
        instruction_reader reader(input, names_);
        const instruction i = reader.read();
        for (const transfer* t : reader.transfers()) {
            order_.check(*t, set_.transfers, stream_.engine().value_or(engine::sync), input, start);
            stream_.add_start(*t, start, *line_);
        }
        if (generation_) check_instruction(i, stream_.engine(), *generation_, reader);
        if (!semaphores_given_)
            add_semaphores(i, stream_.core(), reader.relocations(), semaphores_);
        for (relocation r : reader.relocations()) {
            if (!stream_.engine())
                input.fail(mistake::wrong_shape, start,
                           "an address by name needs .engine before it");
            r.stream = static_cast<std::uint32_t>(set_.streams.size());
            r.word += static_cast<std::uint32_t>(stream_.pc());
            set_.relocations.push_back(r);
        }
        if (reader.target()) stream_.add_use(*reader.target(), *line_);
        const bytes word = encode(i);
        add_words({word.data(), i.words() * word_bytes});
    }

    void directive(cursor& input, std::size_t start, std::string_view word) {
        if (word == ".engine") {
            begin_engine(input, start);
        } else if (word == ".core") {
            finish_stream();
            set_origin({});
            names_.core = static_cast<unsigned>(input.number(0, max_set_cores - 1));
            names_.need_core(names_.core);
            stream_.begin(names_.core);
        } else if (word == ".cores") {
            names_.need_core(static_cast<unsigned>(input.number(1, max_set_cores)) - 1);
        } else if (word == ".tensor") {
            names_.read_tensor(input);
        } else if (word == ".transfer") {
            names_.read_transfer(input);
        } else if (word == ".semaphores") {
            if (!semaphores_given_) semaphores_.clear();
            semaphores_given_ = true;
            while (!input.at_end()) semaphores_.insert(names_.read_semaphore(input));
        } else if (word == ".generation") {
            static constexpr std::string_view names[] = {"v2", "v3", "v4"};
            if (generation_)
                input.fail(mistake::duplicate_key, start, "a text has one .generation");
            generation_ = static_cast<generation>(input.choice(names, "a generation") + 2);
        } else if (word == ".source") {
            read_origin(input);
        } else if (word == ".word") {
            std::array<std::uint8_t, word_bytes> raw{};
            for (unsigned n = 0; n < word_bytes; n += 4) {
                const std::uint32_t value = input.bits32();
                for (unsigned b = 0; b < 4; ++b)
                    raw[n + b] = static_cast<std::uint8_t>(value >> 8 * b);
            }
            add_words(raw);
        } else {
            static constexpr std::string_view known[] = {
                ".engine", ".generation", ".word",       ".core", ".cores",  ".tensor", ".transfer",
                ".source", ".set",        ".semaphores", ".if",   ".repeat", ".else",   ".end"};
            input.unknown(start, word, "a directive", known);
        }
        input.expect_end();
    }

    /// 12 "kernel.py": source line and file of the words that follow.
    void read_origin(cursor& input) {
        const auto number = static_cast<int>(input.number(1, max_source_line));
        const std::size_t start = input.position();
        const std::string_view name = input.quoted("the name of a file");
        if (name.size() > max_path_bytes)
            input.fail(mistake::bad_name, start,
                       fmt::format("a path has at most {} bytes", max_path_bytes));
        const auto found = std::ranges::find(set_.files, name);
        if (found == set_.files.end() && set_.files.size() == max_source_files)
            input.fail(mistake::out_of_range, start, "a set names at most 256 files");
        const auto file = static_cast<std::uint8_t>(found - set_.files.begin());
        if (found == set_.files.end()) set_.files.emplace_back(name);
        set_origin({number, file});
    }

    void begin_engine(cursor& input, std::size_t start) {
        const std::size_t name_start = input.position();
        const auto named = static_cast<engine>(input.choice(engine_names, "an engine"));
        if (!stream_.engine() && stream_.pc() != 0)
            input.fail(mistake::wrong_shape, start, "instructions stand before the first .engine");
        finish_stream();
        set_origin({});
        const auto same = [&](const stream& s) {
            return s.engine == named && s.core == names_.core;
        };
        if (std::ranges::any_of(set_.streams, same))
            input.fail(mistake::duplicate_name, name_start, "this engine has a stream already");
        stream_.begin(names_.core, named);
    }

    void add_words(std::span<const std::uint8_t> words) {
        stream_.add_words(words, origin_.line != 0 ? origin_.line : line_->number, origin_.file);
    }

    void finish_stream() {
        if (auto finished = stream_.finish(report_)) set_.streams.push_back(std::move(*finished));
        stream_.begin(names_.core);
    }

    const std::string_view text_;
    const std::string file_;
    const expanded_line* line_ = nullptr;  ///< that is read now
    std::optional<generation> generation_;
    program_set set_;
    program_names names_{set_};
    stream_builder stream_;
    origin origin_;                  ///< of the words that follow
    std::map<int, origin> origins_;  ///< by the first line of the text that has it
    start_order order_;
    collective_queues collective_queues_;
    semaphore_set semaphores_;  ///< semaphores and events that start at 0
    bool semaphores_given_ = false;
    diagnostics mistakes_;
    const error_reporter report_ = [this](const expanded_line& line, const line_error& error) {
        mistakes_.add(placed(line, error));
    };
};

}  // namespace

program_set assemble_set(std::string_view text, const std::string& file) {
    return text_reader(text, file).read();
}

std::vector<stream> assemble(std::string_view text, const std::string& file) {
    return std::move(assemble_set(text, file).streams);
}

}  // namespace trn::isa
