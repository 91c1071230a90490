// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/misuse/misuse.h"

namespace trn::misuse {

/// For an access that fails because hardware does: by an injected fault, or a link that was cut. No
/// rule is broken, and models that forward the access report none: it counts as its one report.
inline void hardware_failed() {
    ++detail::reports;
}

}  // namespace trn::misuse
