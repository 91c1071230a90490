// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/linux_symbols/guest_memory.h"
#include "platform/framework/loader/btf.h"

namespace trn {

/// A task of a Linux kernel.
struct linux_task {
    std::uint64_t address = 0;  ///< of its struct task_struct
    std::string name;
    std::int32_t id = 0;
    bool is_process = false;          ///< it has memory of its own: not a thread of the kernel
    bool runs = false;                ///< on a hart, or ready to run
    std::uint64_t pc = 0, frame = 0;  ///< where it was switched off, unless it is on a hart
};

/// Reads tasks and their stacks.
class task_list {
public:
    static constexpr std::size_t max_tasks = 4096, max_frames = 32;

    /// \throws btf_error when the types lack a member that is needed
    explicit task_list(const btf& types);

    /// All processes and threads of the kernel, without further threads of a process. `first`: the
    /// address of init_task.
    std::vector<linux_task> read(const guest_memory& memory, std::uint64_t first) const;
    /// The task at this address; nothing when memory there is not a task.
    std::optional<linux_task> task_at(const guest_memory& memory, std::uint64_t address) const;

    /// Return addresses of the calls that lead to `pc`, by frame pointers, innermost first.
    static std::vector<std::uint64_t> callers(const guest_memory& memory, std::uint64_t frame);

private:
    std::uint64_t list_, name_, name_size_, id_, memory_, state_, on_hart_, return_, frame_;
};

}  // namespace trn
