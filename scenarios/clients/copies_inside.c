/* SPDX-License-Identifier: Apache-2.0 */
/* A driver of one's own in the Linux of a host inside, by the driver stub over PCI sysfs:
 * copies_inside FUNCTION BYTES copies to each HBM stack and back, and compares. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sysfs.h"
#include "trn_driver.h"

static int failed(const char* what, const trn_device* device) {
    fprintf(stderr, "%s: %s\n", what, trn_last_error(device));
    return 1;
}

static int copy(trn_device* device, uint32_t stack, uint64_t bytes) {
    uint8_t* sent = malloc(bytes);
    uint8_t* got = calloc(bytes, 1);
    if (sent == NULL || got == NULL) return 1;
    for (uint64_t i = 0; i < bytes; ++i) sent[i] = (uint8_t)(i * 7 + stack);
    const uint64_t place = trn_hbm_address(device, stack, TRN_HBM_RESERVED_BYTES);
    if (trn_write(device, 0, place, sent, bytes) || trn_read(device, 0, got, place, bytes))
        return failed("copy", device);
    const int differ = memcmp(sent, got, bytes) != 0;
    printf("stack %u: %llu bytes %s\n", stack, (unsigned long long)bytes,
           differ ? "DIFFER" : "are the same");
    free(sent);
    free(got);
    return differ;
}

int main(int argc, char** argv) {
    trn_transport transport;
    trn_device_info info;
    char why[160] = "";
    if (argc != 3) return 2;
    if (trn_sysfs_transport(argv[1], &transport, why, sizeof why)) {
        fprintf(stderr, "%s: %s\n", argv[1], why);
        return 1;
    }
    trn_device* device = trn_create(&transport, NULL);
    if (device == NULL) return 1;
    if (trn_probe(device) || trn_reset_device(device) || trn_get_info(device, &info))
        return failed("probe", device);
    int status = 0;
    for (uint32_t stack = 0; stack < info.stacks; ++stack)
        status |= copy(device, stack, strtoull(argv[2], NULL, 0));
    trn_destroy(device);
    return status;
}
