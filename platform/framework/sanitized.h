// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trn {

/// Whether this is a build with the address sanitizer, which is slower and reports crashes itself.
#ifdef __SANITIZE_ADDRESS__
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

}  // namespace trn
