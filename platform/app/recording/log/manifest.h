// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "platform/app/recording/log/event.h"

namespace trn::recording {

/// What was recorded, and how to build the same platform.
struct manifest {
    static constexpr unsigned current_format = 1;
    static constexpr std::size_t max_functions = 4096;

    std::string version;                ///< version of the trnvp that recorded
    std::string board;                  ///< name of the board
    std::string digest;                 ///< digest of the board, its images and the timing
    std::string file;                   ///< the board's YAML file in the recording
    std::vector<std::string> set = {};  ///< "name=value", parameters of the board
    std::string firmware = {};          ///< the argument of --firmware; empty: the board's default
    std::map<std::string, std::string> images = {};  ///< name in the board -> file
    std::map<std::string, std::string> disks = {};   ///< the same, of images that disks write
    bool contended = true;
    std::string time_policy = {};  ///< for information only: a replay has its own time
    std::uint64_t seed = 0;
    /// the values of --misuse and --misuse-allow
    std::vector<std::string> misuse = {}, misuse_allow = {};
    std::string hart = "translate";           ///< how harts executed: the value of --hart
    std::vector<std::string> functions = {};  ///< names of chips; event::function is the index
    /// modules; event::function is the index for typed text
    std::vector<std::string> consoles = {};

    bool operator==(const manifest&) const = default;
};

constexpr const char* manifest_file = "manifest.json";
constexpr const char* boards_copy = "boards";  ///< folder of assemblies in the recording

std::string to_json(const manifest& m);
/// Throws recording_error.
manifest parse_manifest(std::string_view text);
manifest read_manifest(const std::filesystem::path& folder);
void write_manifest(const manifest& m, const std::filesystem::path& folder);

}  // namespace trn::recording
