// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/neuron_isa/assembler/instruction_reader.h"
#include "models/neuron_isa/assembler/preprocessor.h"
#include "models/neuron_isa/assembler/program_set.h"

namespace trn::isa {

/// Builds the instruction stream of one engine. What depends on the whole stream is done at its
/// end: targets of branches, and the check that no loop starts a transfer.
class stream_builder {
public:
    /// Begins an empty stream; without an engine for a text that has no .engine line.
    void begin(unsigned core, std::optional<isa::engine> engine = {});
    const std::optional<isa::engine>& engine() const { return stream_.engine; }
    unsigned core() const { return stream_.core; }
    /// Number of words so far: the pc of the next one.
    std::size_t pc() const { return stream_.words.size() / word_bytes; }

    /// Names the next word. \returns false if the stream has the label already
    bool add_label(std::string_view name);
    /// The next word is a branch to a label, read from `line`.
    void add_use(const label_use& use, const expanded_line& line);
    /// The next word starts a transfer, which `line` names at `column`.
    void add_start(const transfer& started, std::size_t column, const expanded_line& line);
    /// Adds words that have this line of a source file.
    void add_words(std::span<const std::uint8_t> words, int line, std::uint8_t file);

    /// Ends the stream. \returns nothing if it has neither engine nor words
    std::optional<stream> finish(const error_reporter& report);

private:
    struct branch {
        std::size_t pc;
        label_use target;
        expanded_line line;
    };
    struct transfer_start {
        std::size_t pc;
        std::string name;
        std::size_t column;
        expanded_line line;
    };

    void fill_in_targets(const error_reporter& report);
    void check_loops(const error_reporter& report) const;
    std::uint32_t field(std::size_t pc, unsigned byte, unsigned size) const;

    stream stream_;
    std::map<std::string, std::size_t, std::less<>> labels_;
    std::vector<branch> branches_;  ///< to labels
    std::vector<transfer_start> starts_;
};

}  // namespace trn::isa
