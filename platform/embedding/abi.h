// SPDX-License-Identifier: Apache-2.0
#pragma once

#define TRN_PLATFORM_VERSION "0.2.0"
#define TRN_PLATFORM_ABI trn_platform_abi_0_2_0

/// A program that is compiled with the headers of one version and linked with the library of
/// another does not link: this symbol is undefined. Its value is TRN_PLATFORM_VERSION.
extern "C" const char TRN_PLATFORM_ABI[];

namespace trn {

[[gnu::used]] static const char* const abi_of_headers = TRN_PLATFORM_ABI;

}  // namespace trn
