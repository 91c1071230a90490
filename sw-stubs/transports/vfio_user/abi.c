/* SPDX-License-Identifier: Apache-2.0 */
#include "trn_driver_abi.h"

const char TRN_DRIVER_ABI[] = TRN_DRIVER_VERSION;
