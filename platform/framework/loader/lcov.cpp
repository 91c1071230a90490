// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/loader/lcov.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
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

/// A source file with the marks of its branches by line and number.
struct source : source_coverage {
    std::map<std::pair<int, unsigned>, unsigned> marks;
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
    for (auto address = first; address < last;) {
        const auto bits = code.instruction(address);
        if (!bits) return;
        const unsigned marks = *code.marks(address);
        auto& covered = sources_[file];
        bool& ran = covered.lines[line];
        ran = ran || (marks & coverage::ran) != 0;
        if (is_conditional_branch(*bits))
            covered.marks[{line, next[{entry, file, line}]++}] |= marks;
        address += length_of(*bits);
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
    } arguments{*this, code};
    const auto visit = [](Dwarf_Die* function, void* argument) -> int {
        auto& [all, program] = *static_cast<context*>(argument);
        Dwarf_Addr first = 0;
        if (dwarf_lowpc(function, &first) == 0 && program.instruction(first))
            all.entries_.insert(first);
        // Also functions that exist only inside others, or that the linker dropped: those without
        // lines are left out later.
        Dwarf_Attribute attribute;
        int line = 0;
        const char* name =
            dwarf_formstring(dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute));
        if (name == nullptr) name = dwarf_diename(function);
        const auto file = all.name_of(dwarf_decl_file(function));
        if (name != nullptr && !file.empty() && dwarf_decl_line(function, &line) == 0 &&
            !dwarf_hasattr(function, DW_AT_declaration))
            all.sources_[file].functions.emplace(line, name);
        return DWARF_CB_OK;
    };
    dwarf_getfuncs(&unit, visit, &arguments, 0);
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
    for (const auto& [file, covered] : sources_) {
        if (covered.lines.empty()) continue;
        source_coverage all = covered;
        for (const auto& [branch, marks] : covered.marks)
            for (const unsigned way : {0u, 1u}) {
                const bool went = (marks & (way == 0 ? coverage::taken : coverage::passed)) != 0;
                all.branches[{branch.first, branch.second, way}] = (marks & coverage::ran) == 0 ? -1
                                                                   : went                       ? 1
                                                                                                : 0;
            }
        out += to_tracefile(file, std::move(all));
    }
    return out;
}

/// Removes functions without lines, and adds the first line of the others.
/// \returns the first lines of executed functions
std::set<int> complete_functions(source_coverage& covered) {
    std::set<int> executed;
    auto& lines = covered.lines;
    for (auto i = covered.functions.begin(); i != covered.functions.end();) {
        const int first = i->first;
        const auto next = std::find_if(i, covered.functions.end(),
                                       [&](const auto& other) { return other.first > first; });
        const auto begin = lines.lower_bound(first);
        const auto end =
            next == covered.functions.end() ? lines.end() : lines.lower_bound(next->first);
        if (begin == end) {
            i = covered.functions.erase(i, next);
            continue;
        }
        const bool ran = std::any_of(begin, end, [](const auto& line) { return line.second; });
        if (ran) executed.insert(first);
        lines.emplace(first, ran);
        i = next;
    }
    return executed;
}

/// Removes the branches of executed lines of which none was reached, such as those after a call
/// that did not return.
void drop_unreached_branches(source_coverage& covered) {
    std::set<int> reached;
    for (const auto& [branch, mark] : covered.branches)
        if (mark > 0) reached.insert(std::get<0>(branch));
    std::erase_if(covered.branches, [&](const auto& branch) {
        const auto line = std::get<0>(branch.first);
        const auto found = covered.lines.find(line);
        return found != covered.lines.end() && found->second && !reached.contains(line);
    });
}

}  // namespace

std::string to_tracefile(const std::string& file, source_coverage covered) {
    const auto executed = complete_functions(covered);
    drop_unreached_branches(covered);
    const auto count = [](const auto& all, auto hit) { return std::ranges::count_if(all, hit); };
    std::string out = "TN:\nSF:" + file + "\n";
    for (const auto& [line, name] : covered.functions) out += fmt::format("FN:{},{}\n", line, name);
    for (const auto& [line, name] : covered.functions)
        out += fmt::format("FNDA:{},{}\n", executed.contains(line) ? 1 : 0, name);
    out += fmt::format(
        "FNF:{}\nFNH:{}\n", covered.functions.size(),
        count(covered.functions, [&](const auto& f) { return executed.contains(f.first); }));
    for (const auto& [branch, mark] : covered.branches)
        out += fmt::format("BRDA:{},{},{},{}\n", std::get<0>(branch), std::get<1>(branch),
                           std::get<2>(branch),
                           mark < 0   ? "-"
                           : mark > 0 ? "1"
                                      : "0");
    out += fmt::format("BRF:{}\nBRH:{}\n", covered.branches.size(),
                       count(covered.branches, [](const auto& b) { return b.second > 0; }));
    for (const auto& [line, ran] : covered.lines)
        out += fmt::format("DA:{},{}\n", line, ran ? 1 : 0);
    out += fmt::format("LF:{}\nLH:{}\nend_of_record\n", covered.lines.size(),
                       count(covered.lines, [](const auto& l) { return l.second; }));
    return out;
}

lcov_report to_lcov(const coverage& all) {
    collector sources;
    for (const auto& program : all.programs())
        if (program->any_ran()) sources.add(*program);
    return {sources.text(), std::move(sources.warnings)};
}

}  // namespace trn
