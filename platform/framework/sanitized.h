// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trn {

/// Whether this build runs under the address sanitizer: slower, and it reports deaths itself.
#ifdef __SANITIZE_ADDRESS__
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

}  // namespace trn
