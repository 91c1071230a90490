// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp_test/first_signal.h"

#include <atomic>

namespace trn {

namespace {

constexpr int numbers[]{SIGINT, SIGTERM};
std::atomic<int> first = 0;

}  // namespace

first_signal::first_signal() {
    first = 0;
    for (int i = 0; i < 2; ++i) {
        struct sigaction note {};
        note.sa_handler = [](int signal) { first = signal; };
        note.sa_flags = static_cast<int>(SA_RESETHAND);
        sigaction(numbers[i], &note, &before_[i]);
        if (before_[i].sa_handler == SIG_IGN) sigaction(numbers[i], &before_[i], nullptr);
    }
}

first_signal::~first_signal() {
    for (int i = 0; i < 2; ++i) sigaction(numbers[i], &before_[i], nullptr);
}

int first_signal::received() {
    return first;
}

}  // namespace trn
