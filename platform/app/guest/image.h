// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trn {

/// Makes an initramfs that loads modules, runs programs, and ends QEMU with their status.
struct guest_image {
    /// A file of the host machine and its arguments: "neuron.ko", "dup_helper_enable=0".
    struct file_and_words {
        std::filesystem::path file;
        std::vector<std::string> words;
    };
    std::filesystem::path busybox = {};
    std::filesystem::path own_program = {};    ///< trn-guest; always needed
    std::vector<file_and_words> modules = {};  ///< loaded in this order, with their parameters
    /// Run in this order until one fails: programs, with their shared libraries, or scripts. All
    /// are in /program.
    std::vector<file_and_words> programs = {};
    std::vector<std::filesystem::path> folders = {};  ///< copied to /program with their content
    bool shell = false;                               ///< starts a shell on the console at the end

    /// The initramfs. \throws file_error for a file that cannot be read, a link to a folder, or a
    /// shared library that this machine does not have
    std::string initramfs() const;
};

}  // namespace trn
