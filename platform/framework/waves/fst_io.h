/* SPDX-License-Identifier: Apache-2.0
 * Included before fstapi.c, which ignores failures of its writes: replaces its calls by ones that
 * note the first failure. */
#ifndef TRN_FST_IO_H
#define TRN_FST_IO_H

#include <stdio.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

size_t trn_fst_fwrite(const void* data, size_t size, size_t count, FILE* file);
int trn_fst_fflush(FILE* file);
int trn_fst_fclose(FILE* file);
/* Removes the side file FILE.fst.hier only: the file itself may be a link to another one. */
int trn_fst_unlink(const char* path);

/* The errno of the first failure since the last call of trn_fst_clear_failure(); 0: none. */
int trn_fst_failure(void);
void trn_fst_clear_failure(void);

#ifdef __cplusplus
}
#endif

#ifdef TRN_REPLACES_STDIO
#define fwrite trn_fst_fwrite
#define fflush trn_fst_fflush
#define fclose trn_fst_fclose
#define unlink trn_fst_unlink
#endif

#endif
