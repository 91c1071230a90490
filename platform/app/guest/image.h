// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trn {

/// Makes an initramfs that loads modules, runs programs, and ends the machine with their status: by
/// QEMU's debug exit device on x86-64; on riscv64 by a line "trnvp: status N" on the console, and
/// power off.
struct guest_image {
    enum class architecture { x86_64, riscv64 };
    /// A file of the host machine and its arguments: "neuron.ko", "dup_helper_enable=0".
    struct file_and_words {
        std::filesystem::path file;
        std::vector<std::string> words;
    };
    architecture machine = architecture::x86_64;
    std::filesystem::path busybox = {};
    std::filesystem::path own_program = {};  ///< trn-guest; not needed on riscv64
    /// Folder with NAME.ko, `modules.dep` and, beside it, `release`, as get_riscv64.sh makes it,
    /// for modprobe. The kernel parameter trn.modules=NAME,... loads some, before `modules`. Empty:
    /// none
    std::filesystem::path kernel_modules = {};
    std::vector<file_and_words> modules = {};  ///< loaded in this order, with their parameters
    /// Run in this order until one fails: programs, with their shared libraries, or scripts. All
    /// are in /program. On riscv64, programs are linked statically or are in `roots`.
    std::vector<file_and_words> programs = {};
    std::vector<std::filesystem::path> folders = {};  ///< copied to /program with their content
    std::vector<std::filesystem::path> roots = {};    ///< their content is copied to /
    bool shell = false;                               ///< starts a shell on the console at the end
    /// At the end, prints "trnvp: ready" and executes each line of the console in a subshell, with
    /// "trnvp: status N" after it, until the line is "end N". Without echo.
    bool commands = false;

    /// The initramfs. \throws file_error for a file that cannot be read, a link to a folder, a
    /// program or module of another architecture, or a shared library that this machine does not
    /// have
    std::string initramfs() const;
};

}  // namespace trn
