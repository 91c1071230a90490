// SPDX-License-Identifier: Apache-2.0
#include "platform/embedding/abi.h"

extern "C" const char TRNVP_ABI_SYMBOL[] = TRNVP_ABI;
