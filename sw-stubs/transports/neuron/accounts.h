/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_NEURON_ACCOUNTS_H
#define TRN_NEURON_ACCOUNTS_H

#include "trn_transport.h"

/* Accounts of this process in its data store, which the driver adds up in sysfs when the process
 * closes the device (contract 12.1). Without a data store nothing is accounted for. */

struct neuron_accounts {
    int file;
    volatile uint64_t* words; /* the data store; NULL: none */
    uint64_t size;
    uint32_t locked_cores; /* one bit per core */
    trn_accounts counted;  /* what the data store has */
};

void trn_neuron_accounts_open(struct neuron_accounts* accounts, int file);
void trn_neuron_accounts_close(struct neuron_accounts* accounts);

/** Adds what is new in `now`, and locks cores with programs for this process. */
void trn_neuron_account(struct neuron_accounts* accounts, const trn_accounts* now);

#endif
