/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

_Static_assert(TRN_ACCOUNT_CORES == TRN_MAX_CORES, "accounts of all cores");

void trn_accounts_changed(trn_device* device) {
    trn_accounts* accounts = &device->accounts;
    if (!device->transport.account) return;
    accounts->version = TRN_ACCOUNTS_VERSION;
    accounts->host_memory = 0;
    for (uint32_t i = 0; i < device->host_memory_count; ++i)
        accounts->host_memory += device->host_memory[i].size;
    device->transport.account(device->transport.context, accounts);
}
