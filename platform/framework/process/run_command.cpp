// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/process/run_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "platform/framework/process/throw_errno.h"
#include "platform/framework/process/uninterrupted.h"

namespace trn {

command_result run_command(child_process::command words) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("pipe");
    const unique_fd input(ends[0]);
    unique_fd output(ends[1]);
    auto program = child_process::start_bound(std::move(words), {.output = output.get()});
    output = {};
    command_result result;
    std::array<char, 65536> bytes;
    const auto read_some = [&] { return read(input.get(), bytes.data(), bytes.size()); };
    for (auto count = uninterrupted(read_some); count > 0; count = uninterrupted(read_some))
        result.output.append(bytes.data(), std::min(static_cast<std::size_t>(count),
                                                    max_command_output - result.output.size()));
    result.status = program.wait().shell_status();
    return result;
}

}  // namespace trn
