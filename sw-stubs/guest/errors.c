/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "sw-stubs/guest/program.h"

static const char functions[] = "/sys/bus/pci/devices";

/* Sets bits of a little-endian register of 16 bits. */
static bool set_bits(int config, off_t at, unsigned bits) {
    uint8_t value[2];
    if (pread(config, value, sizeof value, at) != sizeof value) return false;
    value[0] |= (uint8_t)bits, value[1] |= (uint8_t)(bits >> 8);
    return pwrite(config, value, sizeof value, at) == sizeof value;
}

static bool enable_errors(int config) {
    enum { COMMAND = 0x04, HEADER_TYPE = 0x0e, BRIDGE_CONTROL = 0x3e };
    enum { COMMAND_SERR = 1 << 8, BRIDGE_SERR = 1 << 1 };
    uint8_t type = 0;
    return pread(config, &type, 1, HEADER_TYPE) == 1 && set_bits(config, COMMAND, COMMAND_SERR) &&
           ((type & 0x7f) != 1 || set_bits(config, BRIDGE_CONTROL, BRIDGE_SERR));
}

bool enable_error_messages(void) {
    DIR* const all = opendir(functions);
    if (!all) return false;
    bool ok = true;
    for (struct dirent* one; (one = readdir(all));) {
        if (one->d_name[0] == '.') continue;
        char path[320];
        snprintf(path, sizeof path, "%s/%s/config", functions, one->d_name);
        const int config = open(path, O_RDWR);
        ok = config >= 0 && enable_errors(config) && ok;
        if (config >= 0) close(config);
    }
    closedir(all);
    return ok;
}
