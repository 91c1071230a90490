// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/linux_symbols/kernel_image.h"
#include "platform/app/linux_symbols/module_files.h"
#include "platform/app/linux_symbols/module_list.h"
#include "platform/app/linux_symbols/task_list.h"
#include "platform/framework/debug/harts.h"
#include "platform/framework/loader/placed_object.h"

namespace trn {

/// The Linux of a server that is in the simulation, as a debugger sees it: from the file of its
/// kernel and the memory of its harts, without software in the guest. Everything is read when it is
/// asked for.
class linux_host {
public:
    /// `files` must live as long as this object.
    linux_host(std::string name, std::vector<debug_hart> harts, const kernel_image& kernel,
               const module_files& files);

    const std::string& name() const { return name_; }
    const std::vector<debug_hart>& harts() const { return harts_; }
    const kernel_image& kernel() const { return kernel_; }

    /// What the kernel has added to the addresses of its file; nothing while it does not run.
    std::optional<std::uint64_t> slide() const;
    /// Where modules have their symbols and are about to begin, and where they end: addresses of
    /// functions of the kernel, those of its file while it does not run.
    std::vector<std::uint64_t> module_events() const;

    struct module_code {
        loaded_module loaded;
        std::shared_ptr<const placed_object> object;  ///< null: there is no file of this build
    };
    /// In the order of the kernel's list, the latest first.
    std::vector<module_code> modules() const;

    /// Bytes of the kernel's memory; none where it is not mapped.
    std::vector<std::uint8_t> read(std::uint64_t address, std::size_t size) const;

    /// "function (file:line)", "function [module]", "function"; "": not an address of the kernel.
    std::string describe(std::uint64_t pc) const;
    /// The hart's task and its calls: "insmod (pid 7) in a (b.c:1) < c"; "": the kernel does not
    /// run.
    std::string activity(const debug_hart& hart) const;
    /// The processes that wait, each with its calls: "cat (pid 7) waits in a < b".
    std::vector<std::string> waiting_tasks() const;

private:
    /// The kernel as it runs.
    struct view {
        guest_memory memory;
        std::uint64_t slide;
    };
    /// Addresses in the file; 0: it has no such symbol.
    struct places {
        std::uint64_t banner, trap_entry, modules, module_begins, module_ends, first_task;
    };

    std::optional<view> look() const;
    bool is_there(const view& seen) const;
    std::vector<module_code> modules(const view& seen) const;
    std::shared_ptr<const placed_object> object_of(const guest_memory& memory,
                                                   const loaded_module& loaded) const;
    std::string describe(std::uint64_t pc, const view& seen,
                         const std::vector<module_code>& loaded) const;
    std::string calls(const view& seen, std::uint64_t pc, std::uint64_t frame,
                      const std::vector<module_code>& loaded) const;

    const std::string name_;
    const std::vector<debug_hart> harts_;
    const kernel_image& kernel_;
    const module_files& files_;
    const module_list module_list_;
    const task_list task_list_;
    const places at_;
    struct known_object {
        std::vector<std::uint8_t> build_id;
        std::shared_ptr<const placed_object> object;  // null: there is no file
    };
    mutable std::map<loaded_module, known_object,
                     bool (*)(const loaded_module&, const loaded_module&)>
        objects_;
    mutable std::size_t files_version_ = 0;  // of files_, when these were sought
};

}  // namespace trn
