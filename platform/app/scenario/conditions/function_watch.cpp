// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/conditions/function_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <systemc>
#include <vector>

#include "platform/app/platform.h"
#include "platform/app/scenario/language/step.h"
#include "platform/framework/config/file.h"
#include "platform/framework/config/nearest_words.h"
#include "platform/framework/debug/harts.h"
#include "platform/framework/loader/elf.h"
#include "platform/framework/loader/firmware_file.h"

namespace trn::scenario {

namespace {

/// A function's address and its first code bytes, which identify the program in memory.
struct entry {
    std::uint64_t pc = 0;
    std::vector<std::byte> code;
};

constexpr std::size_t compared_bytes = 16;

std::vector<std::byte> code_at(const elf_program& program, std::uint64_t pc) {
    for (const auto& segment : program.segments) {
        if (pc < segment.address || pc - segment.address >= segment.bytes.size()) continue;
        const auto rest = std::span(segment.bytes).subspan(pc - segment.address);
        const auto code = std::as_bytes(rest.first(std::min(rest.size(), compared_bytes)));
        return {code.begin(), code.end()};
    }
    return {};
}

/// The packed images beside the board's: a program in them can get into a memory.
class packed_images {
public:
    explicit packed_images(const std::set<std::filesystem::path>& programs) {
        std::set<std::filesystem::path> folders;
        for (const auto& file : programs) folders.insert(file.parent_path());
        std::error_code unreadable;
        for (const auto& folder : folders)
            for (const auto& file : std::filesystem::directory_iterator(folder, unreadable))
                if (file.path().extension() == ".img") files_.insert(file.path());
    }
    bool contain(std::span<const std::byte> code) {
        if (images_.empty())
            for (const auto& file : files_) try {
                    images_.push_back(read_file(file, max_image));
                } catch (const file_error&) {
                    continue;
                }
        const auto bytes =
            std::span(reinterpret_cast<const std::uint8_t*>(code.data()), code.size());
        return std::ranges::any_of(
            images_, [&](const auto& image) { return !std::ranges::search(image, bytes).empty(); });
    }

private:
    static constexpr std::uint64_t max_image = std::uint64_t{64} << 20;
    std::set<std::filesystem::path> files_;
    std::vector<std::vector<std::uint8_t>> images_;
};

/// Whether a symbol is one that a programmer has named; others are the compiler's and libraries'.
bool is_own(std::string_view symbol) {
    return !symbol.starts_with('$') && !symbol.starts_with("__") && symbol.find('.') == symbol.npos;
}

/// All programs that contain the function: images of the board, and programs of packed images,
/// which are .elf files in the same folder. Other .elf files there have nothing to do with the
/// board.
std::vector<entry> find_function(const platform& board, const std::string& name) {
    std::vector<entry> all;
    std::set<std::string> known;  // functions of the board's programs
    std::vector<std::string> unrelated;
    const auto programs = programs_of(board.modules().board());
    std::set<std::filesystem::path> own;
    for (const auto& image : images_of(board.modules().board()))
        own.insert(trn::find_firmware(image));
    packed_images packed(programs);
    for (const auto& file : programs) try {
            const auto program = read_elf(file.string());
            const bool of_board = own.contains(file);
            if (of_board || packed.contain(code_at(program, program.entry)))
                for (const auto& [_, function] : program.functions)
                    if (is_own(function)) known.insert(function);
            const auto pc = program.symbol(name);
            if (!pc) continue;
            entry found{*pc, code_at(program, *pc)};
            if (of_board || packed.contain(found.code))
                all.push_back(std::move(found));
            else
                unrelated.push_back(file.string());
        } catch (const elf_error&) {
            continue;  // a packed image
        }
    if (all.empty() && !unrelated.empty())
        throw step_failure(fmt::format(
            "no firmware of the board has a function '{}': only {} has it, which is in no image",
            name, unrelated.front()));
    if (all.empty())
        throw step_failure(
            fmt::format("no firmware has a function '{}'  {}", name,
                        suggest(name, nearest_first(name, {known.begin(), known.end()}))));
    return all;
}

debug_target& find_hart(const std::string& name) {
    std::vector<std::string> known;
    for (const auto& hart : find_harts()) {
        if (hart.name == name) return *hart.target;
        known.push_back(hart.name);
    }
    throw step_failure(fmt::format("there is no hart '{}'  {}", name, suggest(name, known)));
}

}  // namespace

/// The breakpoints of a hart; shared by all steps that count its functions' calls.
class hart_watch {
public:
    explicit hart_watch(debug_target& hart) : hart_(hart) {
        hart_.on_stop([this] { stopped(); });
    }
    void add(std::uint64_t pc) {
        if (users_[pc]++ == 0) hart_.add_breakpoint(pc);
    }
    void remove(std::uint64_t pc) {
        if (--users_[pc] == 0) hart_.remove_breakpoint(pc);
    }
    std::uint64_t reached(const entry& function) const {
        const auto found = reached_.find({function.pc, function.code});
        return found == reached_.end() ? 0 : found->second;
    }
    const sc_core::sc_event& changed() const { return changed_; }

private:
    void stopped() {
        if (hart_.last_stop().why != debug_target::stop_kind::breakpoint) return;
        const auto pc = hart_.read_register(debug_target::pc).value_or(0);
        std::vector<std::byte> code(compared_bytes);
        code.resize(hart_.memory().peek(pc, code));
        ++reached_[{pc, code}];
        changed_.notify(sc_core::SC_ZERO_TIME);
        hart_.resume(false);
    }

    debug_target& hart_;
    std::map<std::uint64_t, unsigned> users_;
    std::map<std::pair<std::uint64_t, std::vector<std::byte>>, std::uint64_t> reached_;
    sc_core::sc_event changed_;
};

namespace {

struct watched_harts {
    std::map<std::string, std::unique_ptr<hart_watch>> by_name;
};

class function_watch final : public watch {
public:
    function_watch(hart_watch& hart, std::vector<entry> entries, range wanted)
        : hart_(hart), entries_(std::move(entries)), wanted_(wanted) {
        for (const auto& function : entries_) hart_.add(function.pc);
        before_ = reached();
    }
    ~function_watch() override {
        for (const auto& function : entries_) hart_.remove(function.pc);
    }
    bool is_met() override { return wanted_.has(reached() - before_); }
    std::string found_text() const override {
        return fmt::format("it was reached {} times", reached() - before_);
    }
    const sc_core::sc_event* changed() const override { return &hart_.changed(); }

private:
    std::uint64_t reached() const {
        std::uint64_t sum = 0;
        for (const auto& function : entries_) sum += hart_.reached(function);
        return sum;
    }
    hart_watch& hart_;
    const std::vector<entry> entries_;
    const range wanted_;
    std::uint64_t before_ = 0;
};

}  // namespace

void check_function(scenario_context& ctx, const std::string& hart, const std::string& function) {
    find_hart(hart);
    find_function(*ctx.board, function);
}

std::unique_ptr<watch> watch_function(scenario_context& ctx, const std::string& hart,
                                      const std::string& function, range wanted) {
    auto& shared = ctx.kept.get<watched_harts>().by_name[hart];
    if (!shared) shared = std::make_unique<hart_watch>(find_hart(hart));
    return std::make_unique<function_watch>(*shared, find_function(*ctx.board, function), wanted);
}

}  // namespace trn::scenario
