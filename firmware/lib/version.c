// SPDX-License-Identifier: Apache-2.0
#include "firmware/lib/version.h"

#include "firmware_version.h"  // tools/build_id.py writes it

const char firmware_version[] = FIRMWARE_VERSION;
const unsigned firmware_build = FIRMWARE_BUILD;
