// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>

#include "platform/framework/config/diagnostics.h"

namespace trn::test {

/// The code and the place of a reported misuse, for tests.
struct finding {
    mistake code{};
    int line = 0;
    int column = 0;
    friend bool operator==(const finding&, const finding&) = default;
    friend void PrintTo(const finding& f, std::ostream* out) {
        *out << "E" << static_cast<unsigned>(f.code) << " at " << f.line << ":" << f.column;
    }
};

}  // namespace trn::test
