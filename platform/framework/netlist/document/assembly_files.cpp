// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/document/assembly_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace trn {

std::optional<std::filesystem::path> assembly_files::find_file(const assembly& named_in,
                                                               const config::node& node,
                                                               const std::string& name) {
    const auto file = std::filesystem::path(name + ".yaml");
    std::error_code ignored;
    for (const auto& folder : {named_in.folder, all_.result.file.parent_path(), boards_}) {
        const auto candidate = (folder / file).lexically_normal();
        if (file.is_relative() && std::filesystem::is_regular_file(candidate, ignored))
            return candidate;
    }
    std::vector<std::string> near;
    for (const auto& e :
         std::filesystem::directory_iterator((boards_ / file).parent_path(), ignored))
        if (e.path().extension() == ".yaml")
            near.push_back((file.parent_path() / e.path().stem()).string());
    std::sort(near.begin(), near.end());
    all_.report(node, mistake::unknown_type,
                fmt::format("no file '{0}': {0}.yaml is neither beside this file nor in the boards "
                            "folder",
                            name),
                suggest(name, near));
    return std::nullopt;
}

const assembly* assembly_files::load(const assembly& named_in, const config::node& node,
                                     const std::string& name) {
    const auto file = find_file(named_in, node, name);
    if (!file) return nullptr;
    std::error_code ignored;
    const auto same = std::filesystem::weakly_canonical(*file, ignored);
    if (const auto known = files_.find(same); known != files_.end()) return &known->second;
    auto read = read_whole(*file, file_role::assembly);
    return read ? &files_.emplace(same, std::move(*read)).first->second : nullptr;
}

std::optional<assembly> assembly_files::read_whole(const std::filesystem::path& file,
                                                   file_role role) {
    try {
        auto read = read_assembly(config::document::load(file, *all_.result.problems),
                                  file.parent_path(), role);
        all_.result.documents.push_back(read.document);
        return whole(std::move(read), role);
    } catch (const config_error& error) {
        // The file's errors are in all_.result.problems; its content is unusable.
        return std::nullopt;
    }
}

/// A variant becomes the file that it names with its own name and defaults; other files are
/// unchanged.
std::optional<assembly> assembly_files::whole(assembly file, file_role role) {
    if (file.variant_of.empty()) return file;
    const auto node = file.root().at("variant_of");
    const auto path = find_file(file, node, file.variant_of);
    if (!path) return std::nullopt;
    if (std::find(variants_.begin(), variants_.end(), *path) != variants_.end()) {
        all_.report(node, mistake::include_cycle, "this file is a variant of itself",
                    fmt::format("{} -> {}", file.document->name(), path->string()));
        return std::nullopt;
    }
    if (all_.is_too_deep(variants_.size() + 1, node)) return std::nullopt;
    variants_.push_back(*path);
    auto base = read_whole(*path, role == file_role::board ? file_role::either : role);
    variants_.pop_back();
    if (base) set_defaults(*base, file);
    return base;
}

void assembly_files::set_defaults(assembly& base, const assembly& variant) {
    for (const auto& p : variant.parameters) {
        const auto found = std::ranges::find(base.parameters, p.name, &assembly::declared::name);
        if (found == base.parameters.end()) {
            all_.report(p.node, mistake::unknown_parameter,
                        fmt::format("{} has no parameter '{}'", variant.variant_of, p.name),
                        suggest(p.name, names_of(base.parameters)));
            continue;
        }
        if (const auto why = not_of_type(found->type, p.value)) all_.report(p.node, *why);
        found->value = p.value;
        found->node = p.node;
        found->by_variant = true;
    }
    base.misuse.insert(base.misuse.end(), variant.misuse.begin(), variant.misuse.end());
    base.name = variant.name;
    base.description = variant.description;
}

}  // namespace trn
