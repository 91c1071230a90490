// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/kinds/kind_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <list>
#include <string_view>
#include <system_error>
#include <utility>

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

/// A shared library that is closed again unless it is kept.
class opened {
public:
    explicit opened(const fs::path& file) : handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {}
    ~opened() {
        if (handle_ != nullptr) dlclose(handle_);
    }
    opened(const opened&) = delete;
    opened& operator=(const opened&) = delete;

    explicit operator bool() const { return handle_ != nullptr; }
    const kind_library* description() const {
        return static_cast<const kind_library*>(dlsym(handle_, "trnvp_kinds"));
    }
    void keep() { handle_ = nullptr; }

private:
    void* handle_;
};

std::optional<std::string> refused(const kind_list& kinds, const kind_list& known) {
    std::vector<std::string> names = kind_names(known);
    for (const kind& type : kinds) {
        if (type.name.empty() || type.make == nullptr || type.defaults == nullptr)
            return fmt::format("its kind '{}' is incomplete; kind_of<>() makes complete ones",
                               type.name);
        if (std::ranges::find(names, type.name) != names.end())
            return fmt::format("there is another kind '{}'", type.name);
        names.push_back(type.name);
    }
    return std::nullopt;
}

std::optional<std::string> add(const fs::path& file, const kind_list& known) {
    opened library(file);
    if (!library) return dlerror();
    const auto* const described = library.description();
    if (described == nullptr) return "it defines no kinds (TRNVP_KINDS)";
    if (described->abi == nullptr || std::string_view(described->abi) != kind_library::this_abi)
        return fmt::format("it was built for '{}', this program is '{}': build it again",
                           described->abi == nullptr ? "" : described->abi, kind_library::this_abi);
    kind_list kinds;
    try {
        kinds = described->kinds();
    } catch (const std::exception& error) {  // while the library has its class
        return fmt::format("its kinds cannot be made: {}", error.what());
    } catch (...) {
        return "its kinds cannot be made: it throws an object of an unknown type";
    }
    if (auto why = refused(kinds, known)) return why;
    libraries().push_back({file, std::move(kinds)});
    library.keep();
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
