// SPDX-License-Identifier: Apache-2.0
#include "platform/app/linux_symbols/linux_symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "platform/app/host_software/host_software.h"
#include "platform/app/linux_symbols/symbol_file.h"
#include "platform/framework/config/file.h"

namespace trn {

namespace {

constexpr std::uint64_t max_module = 1 << 28;

void write_file(const std::filesystem::path& file, const std::vector<std::uint8_t>& bytes) {
    check_not_read(file);
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) throw file_error(file.string() + " cannot be written");
}

}  // namespace

namespace fs = std::filesystem;
using rpc::json;

linux_symbols::linux_symbols(const std::vector<server>& servers) {
    for (const auto& each : servers) servers_.push_back({.place = each, .kernel = {}, .host = {}});
    if (servers.empty()) return;
    files_.add_folder(host_software::folder() / "modules");
    files_.add_folder(host_software::folder());
}

std::shared_ptr<const kernel_image> linux_symbols::kernel_of(const fs::path& file) {
    for (const auto& entry : servers_)
        if (entry.kernel != nullptr && entry.kernel->file() == file) return entry.kernel;
    return std::make_shared<const kernel_image>(file);
}

const linux_host* linux_symbols::host_of(known& entry) {
    if (entry.is_read) return entry.host.get();
    entry.is_read = true;
    std::vector<debug_hart> harts;
    for (auto& hart : find_harts())
        if (hart.name.starts_with(entry.place.name + ".cpu")) harts.push_back(hart);
    try {
        entry.kernel = kernel_of(entry.place.kernel);
        entry.host = std::make_unique<const linux_host>(entry.place.name, std::move(harts),
                                                        *entry.kernel, files_);
    } catch (const std::runtime_error& why) {
        entry.kernel.reset();
        entry.failure = fmt::format("{}: {}", entry.place.kernel.string(), why.what());
    }
    return entry.host.get();
}

const linux_host* linux_symbols::find(std::string_view hart) {
    for (auto& entry : servers_)
        if (hart.starts_with(entry.place.name + ".cpu")) return host_of(entry);
    return nullptr;
}

std::vector<const linux_host*> linux_symbols::all() {
    std::vector<const linux_host*> found;
    for (auto& entry : servers_)
        if (const auto* const host = host_of(entry)) found.push_back(host);
    return found;
}

std::string linux_symbols::describe(std::string_view hart, std::uint64_t pc) {
    const auto* const host = find(hart);
    return host == nullptr ? std::string() : host->describe(pc);
}

// --- GDB

/// The linker gives some sections of modules addresses, which mean nothing, but which GDB adds to
/// those of the list, and by which it confuses sections: GDB gets a copy without them.
fs::path linux_symbols::file_for_gdb(const placed_object& object) {
    const auto file = fs::absolute(object.file());
    if (!object.has_addresses()) return file;
    const build wanted(file, object.build_id());
    const auto known = copies_.find(wanted);
    if (known != copies_.end()) return known->second;
    try {
        if (!copies_folder_) copies_folder_.emplace("trnvp-modules");
        const auto copy =
            copies_folder_->path() / fmt::format("{}", copies_.size()) / file.filename();
        fs::create_directory(copy.parent_path());
        write_file(copy, without_addresses(read_file(file, max_module)));
        return copies_[wanted] = copy;
    } catch (const std::runtime_error&) {  // no room, or the file is gone
        return file;
    }
}

/// GDB wants an address for each section that occupies memory, in the order of the file. Those that
/// are not loaded get addresses that no program uses.
std::string linux_symbols::gdb_list(const debug_hart& hart) {
    std::string text = "<library-list>\n";
    const auto* const host = find(hart.name);
    for (const auto& [loaded, object] :
         host == nullptr ? std::vector<linux_host::module_code>() : host->modules()) {
        if (object == nullptr) continue;
        text +=
            fmt::format("<library name=\"{}\">\n", gdb::escape_xml(file_for_gdb(*object).string()));
        std::uint64_t unused = 0x1000;
        for (const auto& section : object->sections()) {
            text += fmt::format("<section address=\"{:#x}\"/>\n",
                                section.address != 0 ? section.address : unused);
            if (section.address == 0) unused += (section.size + 0xfff) & ~std::uint64_t{0xfff};
        }
        text += "</library>\n";
    }
    return text + "</library-list>\n";
}

gdb::library_source linux_symbols::libraries() {
    if (empty()) return {};
    return {.list = [this](const debug_hart& hart) { return gdb_list(hart); },
            .events =
                [this](const debug_hart& hart) {
                    const auto* const host = find(hart.name);
                    return host == nullptr ? std::vector<std::uint64_t>() : host->module_events();
                }};
}

// --- Control method

void linux_symbols::add_methods(control& methods) {
    if (empty()) return;
    methods.methods().add(
        {"linux_symbols",
         "Modules of the Linux of a server inside, and the file from which each has symbols; "
         "writes "
         "the symbols of its kernel as an ELF file for debuggers.",
         {{"file", "text", "the ELF file to write", "none"},
          {"modules", "text", "a folder with modules that have debugging information", "none"},
          {"server", "text", "name of the server", "the first"}},
         {{"server, kernel", "text"},
          {"runs", "true or false", "whether this kernel runs"},
          {"slide", "number", "what it has added to the addresses of its file"},
          {"modules", "list", "each with its `name`, `sections` (address by name), and `file`"}},
         {{rpc::code::not_found, "no such server, or no symbols"},
          {rpc::code::failed, "the file cannot be written"}}},
        [this](const auto& asked, auto&) { return answer(asked); });
}

json linux_symbols::answer(const rpc::parameters& asked) {
    asked.only({"file", "modules", "server"});
    const auto server = asked.text("server", "");
    const auto entry = std::ranges::find_if(
        servers_, [&](const known& each) { return server.empty() || each.place.name == server; });
    if (entry == servers_.end())
        throw rpc::error(rpc::code::not_found, fmt::format("there is no server '{}'", server));
    if (asked.has("modules")) files_.add_folder(asked.text("modules"));
    const auto* const host = host_of(*entry);
    if (host == nullptr) throw rpc::error(rpc::code::not_found, entry->failure);
    const auto slide = host->slide();
    if (asked.has("file")) try {
            write_file(asked.text("file"), symbol_file(host->kernel(), slide.value_or(0)));
        } catch (const file_error& why) {
            throw rpc::error(rpc::code::failed, why.what());
        }
    json modules = json::array();
    for (const auto& [loaded, object] : host->modules()) {
        json described = {{"name", loaded.name}, {"sections", json::object()}};
        for (const auto& [name, address] : loaded.sections) described["sections"][name] = address;
        if (object != nullptr) described["file"] = object->file().string();
        modules.push_back(std::move(described));
    }
    return {{"server", host->name()},
            {"kernel", host->kernel().file().string()},
            {"runs", slide.has_value()},
            {"slide", slide.value_or(0)},
            {"modules", std::move(modules)}};
}

}  // namespace trn
