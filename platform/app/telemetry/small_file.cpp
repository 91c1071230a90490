// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry/small_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "platform/framework/unique_fd.h"

namespace trn::telemetry {

std::optional<std::string> small_file(const std::string& path, std::size_t limit) {
    // O_NONBLOCK: a pipe in the place of a file does not block.
    const unique_fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0) return std::nullopt;
    std::string text(limit, '\0');
    std::size_t size = 0;
    while (size < limit) {
        const auto count = ::read(file.get(), text.data() + size, limit - size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return std::nullopt;
        if (count == 0) break;
        size += static_cast<std::size_t>(count);
    }
    text.resize(size);
    return text;
}

}  // namespace trn::telemetry
