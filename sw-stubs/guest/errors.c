/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sw-stubs/guest/program.h"
#include "sw-stubs/transports/sysfs/linux_host.h"

static int set_bit(int config, uint32_t offset, uint32_t bit) {
    uint32_t value = 0;
    const int error = trn_linux_config_read(config, offset, 2, &value);
    return error != 0 ? error : trn_linux_config_write(config, offset, 2, value | bit);
}

static int enable_errors(int config) {
    uint32_t type = 0;
    int error = trn_linux_config_read(config, PCI_HEADER_TYPE, 1, &type);
    if (error == 0) error = set_bit(config, PCI_COMMAND, PCI_COMMAND_SERR);
    if (error == 0 && (type & 0x7f) == PCI_HEADER_TYPE_BRIDGE)
        error = set_bit(config, PCI_BRIDGE_CONTROL, PCI_BRIDGE_CTL_SERR);
    return error;
}

static bool enable_errors_of(const char* function) {
    char path[320];
    snprintf(path, sizeof path, TRN_SYSFS_DEVICES "/%s/config", function);
    const int config = open(path, O_RDWR | O_CLOEXEC);
    const int error = config < 0 ? -errno : enable_errors(config);
    if (config >= 0) close(config);
    if (error != 0) fprintf(stderr, "trn-guest: %s: %s\n", path, strerror(-error));
    return error == 0;
}

bool enable_error_messages(void) {
    DIR* const functions = opendir(TRN_SYSFS_DEVICES);
    if (functions == NULL) return true; /* a machine without PCI */
    bool ok = true;
    for (struct dirent* entry; (entry = readdir(functions)) != NULL;)
        if (entry->d_name[0] != '.') ok = enable_errors_of(entry->d_name) && ok;
    closedir(functions);
    return ok;
}
