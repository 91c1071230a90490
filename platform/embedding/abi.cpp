// SPDX-License-Identifier: Apache-2.0
#include "platform/embedding/abi.h"

extern "C" const char TRN_PLATFORM_ABI[] = TRN_PLATFORM_VERSION;
