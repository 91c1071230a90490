// SPDX-License-Identifier: Apache-2.0
#pragma once

// Also compiles a function for processors with wider vectors. Results are the same: no multiply-add
// is fused.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define TRN_WIDE_VECTORS [[gnu::target_clones("arch=x86-64-v4", "avx2", "default"), gnu::flatten]]
#else
#define TRN_WIDE_VECTORS
#endif
