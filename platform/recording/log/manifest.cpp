// SPDX-License-Identifier: Apache-2.0
#include "platform/recording/log/manifest.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace trn::recording {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* format_name = "trnvp recording";

/// A file inside the recording: nothing in a manifest may name one outside.
std::string inside(const std::string& name) {
    const fs::path path = fs::path(name).lexically_normal();
    if (path.empty() || path.is_absolute() || *path.begin() == "..")
        throw recording_error(
            fmt::format("{}: '{}' is not a file of the recording", manifest_file, name));
    return name;
}

json parse(std::string_view text) {
    json read = json::parse(text, nullptr, false);
    if (!read.is_object())
        throw recording_error(fmt::format("{}: this is no JSON object", manifest_file));
    if (read.value("format", json()) != format_name)
        throw recording_error(fmt::format("{}: this is no recording of trnvp", manifest_file));
    if (read.value("format_version", json()) != manifest::current_format)
        throw recording_error(fmt::format("{}: format version {}, this trnvp reads version {}",
                                          manifest_file,
                                          read.value("format_version", json())
                                              .dump(-1, ' ', false, json::error_handler_t::replace),
                                          manifest::current_format));
    return read;
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
                      {"timing", m.contended ? "contended" : "functional"},
                      {"time_policy", m.time_policy},
                      {"seed", m.seed},
                      {"functions", m.functions},
                      {"consoles", m.consoles}};
    return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

manifest parse_manifest(std::string_view text) {
    const json read = parse(text);
    try {
        manifest m{.version = read.at("trnvp"),
                   .board = read.at("board"),
                   .digest = read.at("digest"),
                   .file = inside(read.at("file")),
                   .set = read.at("set"),
                   .firmware = read.at("firmware"),
                   .images = read.at("images"),
                   .contended = read.at("timing") == "contended",
                   .time_policy = read.at("time_policy"),
                   .seed = read.at("seed"),
                   .functions = read.at("functions"),
                   .consoles = read.at("consoles")};
        for (const auto& [name, file] : m.images) inside(file);
        if (m.functions.size() > manifest::most_functions)
            throw recording_error(fmt::format("{}: too many functions", manifest_file));
        return m;
    } catch (const json::exception& wrong) {
        throw recording_error(fmt::format("{}: {}", manifest_file, wrong.what()));
    }
}

manifest read_manifest(const fs::path& folder) {
    std::ifstream in(folder / manifest_file, std::ios::binary);
    if (!in)
        throw recording_error(
            fmt::format("{} is no recording: it has no {}", folder.string(), manifest_file));
    constexpr std::size_t most = 16 << 20;
    std::string text(most, '\0');
    in.read(text.data(), most);
    text.resize(static_cast<std::size_t>(in.gcount()));
    return parse_manifest(text);
}

void write_manifest(const manifest& m, const fs::path& folder) {
    std::ofstream out(folder / manifest_file, std::ios::binary | std::ios::trunc);
    if (!(out << to_json(m)).flush())
        throw recording_error(fmt::format("cannot write {}: {}", (folder / manifest_file).string(),
                                          std::strerror(errno)));
}

}  // namespace trn::recording
