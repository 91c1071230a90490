// SPDX-License-Identifier: Apache-2.0
#define UNMAPPED
#include "traps.c"
