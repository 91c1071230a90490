// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include "platform/framework/process/throw_errno.h"

namespace trn::scenario {

/// Limits the number of scenarios that run in parallel, over the runner and all groups: each takes
/// a byte from a pipe and puts it back.
class tokens {
public:
    explicit tokens(unsigned count) {
        if (pipe2(ends_, O_CLOEXEC | O_NONBLOCK) != 0) throw_errno("pipe");
        for (unsigned i = 0; i < count; ++i) give();
    }
    ~tokens() {
        for (const int end : ends_) close(end);
    }
    tokens(const tokens&) = delete;
    tokens& operator=(const tokens&) = delete;

    int readable_when_free() const { return ends_[0]; }
    bool take() {
        char token;
        return read(ends_[0], &token, 1) == 1;
    }
    void give() {
        // Never blocks: a pipe holds more bytes than there are tokens.
        if (write(ends_[1], "x", 1) != 1) throw_errno("scenario token");
    }

private:
    int ends_[2];
};

}  // namespace trn::scenario
