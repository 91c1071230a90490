// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace trn {

/// Stores the first SIGINT or SIGTERM that arrives while it exists; the second one ends the
/// process. A signal that was ignored stays ignored. One at a time.
class first_signal {
public:
    first_signal();
    ~first_signal();
    first_signal(const first_signal&) = delete;
    first_signal& operator=(const first_signal&) = delete;

    /// Its number; 0: none yet.
    static int received();

private:
    struct sigaction before_[2];
};

}  // namespace trn
