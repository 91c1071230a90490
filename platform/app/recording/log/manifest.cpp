// SPDX-License-Identifier: Apache-2.0
#include "platform/app/recording/log/manifest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>

#include "platform/framework/config/json.h"

namespace trn::recording {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* format_name = "trnvp recording";

/// Checks that `name` is a path inside the recording.
std::string inside(const std::string& name) {
    const fs::path path = fs::path(name).lexically_normal();
    if (path.empty() || path.is_absolute() || *path.begin() == "..")
        throw recording_error(
            fmt::format("{}: '{}' is not a file of the recording", manifest_file, name));
    return name;
}

json parse(std::string_view text) {
    json read = config::parse_json(text);
    if (!read.is_object())
        throw recording_error(fmt::format("{}: not a JSON object", manifest_file));
    if (read.value("format", json()) != format_name)
        throw recording_error(fmt::format("{}: not a recording of trnvp", manifest_file));
    const auto version = read.value("format_version", json());
    if (version != manifest::current_format)
        throw recording_error(fmt::format(
            "{}: format version {}, this trnvp reads version {}", manifest_file,
            version.is_structured() ? version.type_name()
                                    : version.dump(-1, ' ', false, json::error_handler_t::replace),
            manifest::current_format));
    return read;
}

/// The value of `key`. Throws recording_error unless it has the type `expected`.
const json& field(const json& object, const char* key, bool (json::*is)() const noexcept,
                  std::string_view expected) {
    const auto found = object.find(key);
    if (found != object.end() && ((*found).*is)()) return *found;
    throw recording_error(fmt::format("{}: '{}' must be {}", manifest_file, key, expected));
}

std::string text(const json& object, const char* key) {
    return field(object, key, &json::is_string, "a text");
}

std::vector<std::string> texts(const json& object, const char* key) {
    constexpr auto expected = "a list of texts";
    std::vector<std::string> all;
    for (const auto& item : field(object, key, &json::is_array, expected)) {
        if (!item.is_string())
            throw recording_error(fmt::format("{}: '{}' must be {}", manifest_file, key, expected));
        all.push_back(item);
    }
    return all;
}

std::map<std::string, std::string> files(const json& object, const char* key) {
    std::map<std::string, std::string> all;
    for (const auto& [name, _] : field(object, key, &json::is_object, "a mapping of files").items())
        all[name] = inside(text(object[key], name.c_str()));
    return all;
}

/// The value of `key`, one of these words.
std::string word(const json& object, const char* key,
                 std::initializer_list<std::string_view> known) {
    auto value = text(object, key);
    if (std::ranges::find(known, value) == known.end())
        throw recording_error(
            fmt::format("{}: '{}' must be {}", manifest_file, key, fmt::join(known, " or ")));
    return value;
}

}  // namespace

std::string to_json(const manifest& m) {
    const json out = {{"format", format_name},
                      {"format_version", manifest::current_format},
                      {"trnvp", m.version},
                      {"board", m.board},
                      {"digest", m.digest},
                      {"file", m.file},
                      {"set", m.set},
                      {"firmware", m.firmware},
                      {"images", m.images},
                      {"disks", m.disks},
                      {"timing", m.contended ? "contended" : "functional"},
                      {"time_policy", m.time_policy},
                      {"seed", m.seed},
                      {"misuse", m.misuse},
                      {"misuse_allow", m.misuse_allow},
                      {"hart", m.hart},
                      {"functions", m.functions},
                      {"consoles", m.consoles}};
    return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

manifest parse_manifest(std::string_view bytes) {
    const json read = parse(bytes);
    manifest m{.version = text(read, "trnvp"),
               .board = text(read, "board"),
               .digest = text(read, "digest"),
               .file = inside(text(read, "file")),
               .set = texts(read, "set"),
               .firmware = text(read, "firmware"),
               .images = files(read, "images"),
               .disks = {},
               .contended = word(read, "timing", {"contended", "functional"}) == "contended",
               .time_policy = text(read, "time_policy"),
               .seed = field(read, "seed", &json::is_number_unsigned, "a number from 0 on"),
               .functions = texts(read, "functions"),
               .consoles = texts(read, "consoles")};
    // Recordings of older versions lack these.
    if (read.contains("disks")) m.disks = files(read, "disks");
    if (read.contains("misuse")) m.misuse = texts(read, "misuse");
    if (read.contains("misuse_allow")) m.misuse_allow = texts(read, "misuse_allow");
    if (read.contains("hart")) m.hart = word(read, "hart", {"interpret", "translate", "check"});
    if (m.functions.size() > manifest::max_functions)
        throw recording_error(fmt::format("{}: too many functions", manifest_file));
    return m;
}

manifest read_manifest(const fs::path& folder) {
    std::error_code unreadable;
    std::ifstream file;
    if (fs::is_regular_file(folder / manifest_file, unreadable))
        file.open(folder / manifest_file, std::ios::binary);
    if (!file.is_open())
        throw recording_error(
            fmt::format("{} is not a recording: {} is missing", folder.string(), manifest_file));
    constexpr std::size_t max_size = 16 << 20;
    std::string text(max_size, '\0');
    file.read(text.data(), max_size);
    text.resize(static_cast<std::size_t>(file.gcount()));
    return parse_manifest(text);
}

void write_manifest(const manifest& m, const fs::path& folder) {
    std::ofstream out(folder / manifest_file, std::ios::binary | std::ios::trunc);
    if (!(out << to_json(m)).flush()) cannot_write((folder / manifest_file).string(), errno);
}

}  // namespace trn::recording
