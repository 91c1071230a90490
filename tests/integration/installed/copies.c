/* SPDX-License-Identifier: Apache-2.0 */
/* copies SOCKET: copies 64 KiB to HBM and back, with the installed driver stub. */
#include <stdio.h>
#include <string.h>

#include "trn_driver.h"
#include "vfio_user/vfio_user.h"

enum { size = 64 << 10 };

int main(int argc, char** argv) {
    char why[256] = "no socket is named";
    trn_transport transport;
    if (argc != 2 || trn_vfio_user_transport(argv[1], NULL, &transport, why, sizeof why) != 0) {
        fprintf(stderr, "%s\n", why);
        return 2;
    }
    trn_device* chip = trn_create(&transport, NULL);
    trn_buffer out, back;
    if (chip == NULL || trn_probe(chip) != TRN_OK || trn_reset_device(chip) != TRN_OK ||
        trn_buffer_alloc(chip, size, &out) != TRN_OK ||
        trn_buffer_alloc(chip, size, &back) != TRN_OK)
        return 1;
    for (int i = 0; i < size; ++i) ((unsigned char*)out.memory.host)[i] = (unsigned char)(i * 7);
    const uint64_t inside = trn_hbm_address(chip, 0, 16 << 20);
    if (trn_copy(chip, 0, inside, trn_buffer_address(chip, &out, 0), size) != TRN_OK ||
        trn_copy(chip, 0, trn_buffer_address(chip, &back, 0), inside, size) != TRN_OK)
        return 1;
    puts(memcmp(out.memory.host, back.memory.host, size) == 0 ? "as sent" : "differs");
    trn_buffer_free(chip, &out);
    trn_buffer_free(chip, &back);
    trn_destroy(chip);
    return 0;
}
