// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/loader/lcov.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "platform/framework/loader/dwarf_file.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

/// BRANCH, C.BEQZ or C.BNEZ (Unpriv. 2.5 and 16.4).
bool is_conditional_branch(std::uint32_t bits) {
    return (bits & 3) == 3 ? (bits & 0x7f) == 0x63 : (bits & 0xc003) == 0xc001;
}

unsigned length_of(std::uint32_t bits) {
    return (bits & 3) == 3 ? 4 : 2;
}

/// The coverage of one source file.
struct source {
    struct function {
        int line = 0;
        bool ran = false;
    };
    std::map<int, bool> lines;  // whether the line was executed
    // marks, by line and number of the branch
    std::map<std::pair<int, unsigned>, unsigned> branches;
    std::map<std::string, function> functions;
};

class collector {
public:
    void add(const coverage::program& code);
    std::string text() const;
    std::vector<std::string> warnings;

private:
    /// Per program: the next branch number of a line in a function.
    using numbers = std::map<std::tuple<std::uint64_t, std::string, int>, unsigned>;

    bool add_lines(const coverage::program& code, Dwarf_Die& unit, numbers& next);
    void add_range(const coverage::program& code, std::uint64_t first, std::uint64_t last,
                   const std::string& file, int line, numbers& next);
    void add_functions(const coverage::program& code, Dwarf_Die& unit);
    std::string name_of(const char* file);

    const fs::path here_ = fs::current_path();
    std::map<std::string, std::string> names_;  // "": omitted
    std::set<std::uint64_t> entries_;           // start addresses of functions
    std::map<std::string, source> sources_;
};

/// Path relative to the current folder if the file is inside it; "" for sources that are omitted.
std::string collector::name_of(const char* file) {
    if (file == nullptr) return {};
    const auto [found, fresh] = names_.emplace(file, "");
    if (!fresh) return found->second;
    const auto path = fs::path(file).lexically_normal();
    const auto inside = path.is_absolute() ? path.lexically_relative(here_) : path;
    std::error_code unreadable;
    if (!inside.empty() && *inside.begin() != "..")
        found->second = inside.string();
    else if (path.is_absolute() && fs::exists(path, unreadable))
        found->second = path.string();
    return found->second;
}

void collector::add_range(const coverage::program& code, std::uint64_t first, std::uint64_t last,
                          const std::string& file, int line, numbers& next) {
    const auto next_entry = entries_.upper_bound(first);
    const auto entry = next_entry == entries_.begin() ? 0 : *std::prev(next_entry);
    for (auto at = first; at < last;) {
        const auto bits = code.instruction(at);
        if (!bits) return;
        const unsigned marks = *code.marks(at);
        auto& one = sources_[file];
        bool& ran = one.lines[line];
        ran = ran || (marks & coverage::ran) != 0;
        if (is_conditional_branch(*bits))
            one.branches[{line, next[{entry, file, line}]++}] |= marks;
        at += length_of(*bits);
    }
}

/// Adds a unit's lines. Returns whether it has lines with code of this program.
bool collector::add_lines(const coverage::program& code, Dwarf_Die& unit, numbers& next) {
    Dwarf_Lines* rows = nullptr;
    std::size_t count = 0;
    if (dwarf_getsrclines(&unit, &rows, &count) != 0) return false;
    bool any = false;
    for (std::size_t i = 0; i + 1 < count; ++i) {
        Dwarf_Line* const row = dwarf_onesrcline(rows, i);
        Dwarf_Addr first = 0, last = 0;
        bool end = false;
        int line = 0;
        dwarf_lineendsequence(row, &end);
        dwarf_lineaddr(row, &first);
        dwarf_lineaddr(dwarf_onesrcline(rows, i + 1), &last);
        dwarf_lineno(row, &line);
        // Functions that the linker dropped have address 0, where no program has code.
        if (end || line == 0 || !code.instruction(first)) continue;
        any = true;
        if (const auto file = name_of(dwarf_linesrc(row, nullptr, nullptr)); !file.empty())
            add_range(code, first, last, file, line, next);
    }
    return any;
}

void collector::add_functions(const coverage::program& code, Dwarf_Die& unit) {
    struct context {
        collector& all;
        const coverage::program& code;
    } with{*this, code};
    const auto visit = [](Dwarf_Die* function, void* argument) -> int {
        auto& [all, program] = *static_cast<context*>(argument);
        Dwarf_Addr first = 0, last = 0;
        int line = 0;
        if (dwarf_lowpc(function, &first) != 0 || dwarf_highpc(function, &last) != 0 ||
            !program.instruction(first))
            return DWARF_CB_OK;
        all.entries_.insert(first);
        const char* const name = dwarf_diename(function);
        const auto file = all.name_of(dwarf_decl_file(function));
        if (name == nullptr || file.empty() || dwarf_decl_line(function, &line) != 0)
            return DWARF_CB_OK;
        auto& one = all.sources_[file].functions[name];
        one.line = line;
        one.ran = one.ran || (*program.marks(first) & coverage::ran) != 0;
        return DWARF_CB_OK;
    };
    dwarf_getfuncs(&unit, visit, &with, 0);
}

void collector::add(const coverage::program& code) {
    const dwarf_file debugging(code.file());
    numbers next;
    bool any = false;
    entries_.clear();
    debugging.any_unit([&](Dwarf_Die& unit) {
        add_functions(code, unit);
        return false;
    });
    debugging.any_unit([&](Dwarf_Die& unit) {
        any |= add_lines(code, unit, next);
        return false;
    });
    if (!any)
        warnings.push_back(
            fmt::format("{} has no debugging information (compile it with -g): what was executed "
                        "of it is in no line of the coverage",
                        code.file().string()));
}

std::string collector::text() const {
    std::string out;
    for (const auto& [file, one] : sources_) {
        if (one.lines.empty()) continue;
        out += "TN:\nSF:" + file + "\n";
        std::size_t hit = 0;
        for (const auto& [name, f] : one.functions) out += fmt::format("FN:{},{}\n", f.line, name);
        for (const auto& [name, f] : one.functions) {
            out += fmt::format("FNDA:{},{}\n", f.ran ? 1 : 0, name);
            hit += f.ran;
        }
        out += fmt::format("FNF:{}\nFNH:{}\n", one.functions.size(), hit);
        hit = 0;
        for (const auto& [where, marks] : one.branches)
            for (const unsigned way : {0u, 1u}) {
                const bool went = (marks & (way == 0 ? coverage::taken : coverage::passed)) != 0;
                out += fmt::format("BRDA:{},{},{},{}\n", where.first, where.second, way,
                                   (marks & coverage::ran) == 0 ? "-"
                                   : went                       ? "1"
                                                                : "0");
                hit += went;
            }
        out += fmt::format("BRF:{}\nBRH:{}\n", one.branches.size() * 2, hit);
        hit = 0;
        for (const auto& [line, ran] : one.lines) {
            out += fmt::format("DA:{},{}\n", line, ran ? 1 : 0);
            hit += ran;
        }
        out += fmt::format("LF:{}\nLH:{}\nend_of_record\n", one.lines.size(), hit);
    }
    return out;
}

}  // namespace

lcov_report to_lcov(const coverage& all) {
    collector sources;
    for (const auto& one : all.programs())
        if (one->any_ran()) sources.add(*one);
    return {sources.text(), std::move(sources.warnings)};
}

}  // namespace trn
