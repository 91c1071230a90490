// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "platform/app/guest/architecture.h"

namespace trn {

/// Makes an initramfs that loads modules, runs programs, and ends the machine with their status.
struct guest_image {
    /// A file of the host machine and its arguments: "neuron.ko", "dup_helper_enable=0".
    struct file_and_words {
        std::filesystem::path file;
        std::vector<std::string> words;
    };
    const guest_architecture* architecture = &guest_architectures().front();
    std::filesystem::path busybox = {};
    std::filesystem::path own_program = {};  ///< trn-guest; only with an agent not needed
    /// Folder with NAME.ko, `modules.dep` and, beside it, `release`, as get_riscv64.sh makes it,
    /// for modprobe. Empty: none
    std::filesystem::path kernel_modules = {};
    std::vector<file_and_words> modules = {};  ///< loaded in this order, with their parameters
    /// Run in this order until one fails: programs, with their shared libraries, or scripts. All
    /// are in /program. Other architectures than x86_64 have programs linked statically, and those
    /// of `roots`.
    std::vector<file_and_words> programs = {};
    std::vector<std::filesystem::path> folders = {};  ///< copied to /program with their content
    std::vector<std::filesystem::path> roots = {};    ///< their content is copied to /
    bool shell = false;                               ///< starts a shell on the console at the end
    /// Text of a script that is started at the end, beside a shell on the console. The machine then
    /// goes on: a shell that ends is started again. Empty: none
    std::string agent = {};

    /// The initramfs. \throws file_error for a file that cannot be read, a link to a folder, or a
    /// shared library that this machine does not have
    std::string initramfs() const;
    /// A text that changes with each version of a file in the initramfs, and with its scripts; it
    /// takes no reading of files. For images without `programs`, which may need shared libraries.
    std::string version() const;

private:
    std::string init() const;
};

}  // namespace trn
