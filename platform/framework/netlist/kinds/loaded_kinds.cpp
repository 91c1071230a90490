// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/kinds/loaded_kinds.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <list>
#include <memory>
#include <string_view>
#include <system_error>
#include <systemc>
#include <utility>

#include "platform/framework/netlist/kinds/kind_library.h"
#include "platform/framework/netlist/kinds/library_faults.h"
#include "platform/framework/netlist/kinds/library_stamp.h"

namespace trn {

namespace {

namespace fs = std::filesystem;

struct loaded_library {
    fs::path file;
    kind_list kinds;  // of constant size: plans refer to its elements
};

std::list<loaded_library>& libraries() {
    static std::list<loaded_library> list;
    return list;
}

/// Names with / are those of assemblies.
bool is_identifier(std::string_view name) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return is_letter(name.front()) && std::ranges::all_of(name, [&](char c) {
               return is_letter(c) || (c >= '0' && c <= '9');
           });
}

std::optional<std::string> refused(const kind_list& kinds, const kind_list& known) {
    std::vector<std::string> names = kind_names(known);
    for (const kind& type : kinds) {
        if (type.name.empty() || type.make == nullptr || type.defaults == nullptr)
            return fmt::format("its kind '{}' is incomplete; kind_of<>() makes complete ones",
                               type.name);
        if (!is_identifier(type.name))
            return fmt::format("its kind '{}' has no name of letters, digits and _", type.name);
        if (std::ranges::find(names, type.name) != names.end())
            return fmt::format("there is another kind '{}'", type.name);
        names.push_back(type.name);
    }
    return std::nullopt;
}

/// Why dlopen() has failed, with the name of a missing function as in the source.
std::string refusal_of_loader() {
    std::string text = dlerror();
    constexpr std::string_view missing = "undefined symbol: ";
    const auto place = text.find(missing);
    if (place == text.npos) return text;
    const auto name = text.substr(place + missing.size());
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> readable(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    return fmt::format("it uses '{}', which neither it nor this program has",
                       status == 0 ? readable.get() : name.c_str());
}

/// Of the exception that is being handled.
std::string exception_text() {
    try {
        throw;
    } catch (const sc_core::sc_report& why) {  // its what() has several lines
        return fmt::format("{}: {}", why.get_msg_type(), why.get_msg());
    } catch (const std::exception& why) {
        return why.what();
    } catch (...) {
        return "it throws an object of an unknown type";
    }
}

/// dlopen() is declared noexcept, so that a direct call ends the program where constructors throw.
void* (*const volatile open_library)(const char* file, int mode) = &dlopen;

std::optional<std::string> add(const fs::path& file, const kind_list& known) {
    if (auto why = refuse_by_stamp(file, TRNVP_KINDS_STAMP)) return why;
    void* library = nullptr;
    try {
        const library_loading constructors(file);
        library = open_library(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays open
    } catch (...) {  // of a constructor of a static object
        return fmt::format("it fails while it is loaded: {}", exception_text());
    }
    if (library == nullptr) return refusal_of_loader();
    const auto* const described = static_cast<const kind_library*>(dlsym(library, "trnvp_kinds"));
    if (described == nullptr || described->kinds == nullptr)
        return "it defines no kinds (TRNVP_KINDS)";
    report_faults_of(file, described);
    kind_list kinds;
    try {
        kinds = described->kinds();
    } catch (...) {
        return fmt::format("its kinds cannot be made: {}", exception_text());
    }
    if (auto why = refused(kinds, known)) return why;
    libraries().push_back({file, std::move(kinds)});
    return std::nullopt;
}

}  // namespace

std::vector<const kind*> loaded_kinds() {
    std::vector<const kind*> all;
    for (const auto& library : libraries())
        for (const kind& type : library.kinds) all.push_back(&type);
    return all;
}

std::optional<std::string> load_kinds(const fs::path& library, const kind_list& known) {
    std::error_code missing;
    const auto file = fs::canonical(library, missing);
    if (missing) return missing.message();
    if (std::ranges::find(libraries(), file, &loaded_library::file) != libraries().end())
        return std::nullopt;
    return add(file, known);
}

fs::path library_of(const kind& type) {
    for (const auto& library : libraries())
        for (const kind& each : library.kinds)
            if (&each == &type) return library.file;
    return {};
}

const kind* find_kind(const kind_list& known, std::string_view name) {
    const auto found = std::ranges::find(known, name, &kind::name);
    if (found != known.end()) return &*found;
    const auto loaded = loaded_kinds();
    const auto added = std::ranges::find(loaded, name, &kind::name);
    return added == loaded.end() ? nullptr : *added;
}

std::vector<std::string> kind_names(const kind_list& known) {
    std::vector<std::string> names;
    for (const kind& type : known) names.push_back(type.name);
    for (const kind* type : loaded_kinds()) names.push_back(type->name);
    return names;
}

}  // namespace trn
