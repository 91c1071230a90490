/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_PROGRAM_SET_H
#define TRN_LIB_PROGRAM_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trn/program_set_regs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Program set files (doc/models/neuron_isa/program_set.md) as structures, for the assembler and for
 * loaders on a host. Files are untrusted: after trn_set_read all values of the structures are
 * within their bounds. */

#define SET_MAX_CORES 8u
#define SET_ENGINES 5u
#define SET_MAX_RANK 8u
#define SET_DMA_ENGINES 16u
#define SET_COLLECTIVE_CORES 3u /* of a core, at most */
#define SET_QUEUES 13u
#define SET_NO_SEMAPHORE UINT32_MAX
#define SET_WORD_BYTES 64u

typedef struct set_stream {
    uint32_t core, engine, words;
    const uint8_t* bytes;
    uint32_t first_line; /* index in `lines`, if any */
} set_stream;

typedef struct set_tensor {
    const char* name;
    uint32_t type, role, core, alignment, rank, dimensions[SET_MAX_RANK];
    uint64_t bytes;
} set_tensor;

typedef enum set_memory {
    SET_TENSOR = TRN_PROGRAM_SET_TRANSFER_SIDE_KIND_CODE_TENSOR,
    SET_SBUF = TRN_PROGRAM_SET_TRANSFER_SIDE_KIND_CODE_SBUF,
    SET_PSUM = TRN_PROGRAM_SET_TRANSFER_SIDE_KIND_CODE_PSUM
} set_memory;

typedef struct set_side {
    set_memory memory;
    uint32_t object;
    uint64_t offset, row, block;
} set_side;

typedef struct set_transfer {
    const char* name;
    uint32_t core, queue, engines, semaphore_core, semaphore, rows, blocks, bytes;
    set_side sides[2]; /* source, destination */
} set_transfer;

typedef enum set_target {
    SET_ADDRESS_TENSOR = TRN_PROGRAM_SET_RELOCATION_KIND_CODE_TENSOR,
    SET_ADDRESS_INCREMENT = TRN_PROGRAM_SET_RELOCATION_KIND_CODE_INCREMENT,
    SET_ADDRESS_CONTROL = TRN_PROGRAM_SET_RELOCATION_KIND_CODE_CONTROL,
    SET_ADDRESS_SBUF = TRN_PROGRAM_SET_RELOCATION_KIND_CODE_SBUF,
    SET_ADDRESS_COLLECTIVE = TRN_PROGRAM_SET_RELOCATION_KIND_CODE_COLLECTIVE,
    SET_ADDRESS_PROGRAM = TRN_PROGRAM_SET_RELOCATION_KIND_CODE_PROGRAM
} set_target;

typedef struct set_relocation {
    uint32_t stream, word, byte;
    set_target target;
    uint32_t core, object;
    uint64_t addend;
} set_relocation;

#define SET_FIRST_EVENT 256u
typedef struct set_semaphore {
    uint32_t core, index; /* from SET_FIRST_EVENT on: an event */
} set_semaphore;

typedef struct program_set {
    uint8_t* file; /* a copy */
    uint32_t generation, cores;
    uint32_t stream_count, tensor_count, transfer_count, relocation_count, semaphore_count;
    set_stream* streams;
    set_tensor* tensors;
    set_transfer* transfers;
    set_relocation* relocations;
    set_semaphore* semaphores;
    const uint8_t* lines; /* NULL: none */
    uint32_t file_count;
    const char** files;
} program_set;

/* Limits of a chip for the values in a file. */
typedef struct set_limits {
    uint32_t generation;
    uint64_t sbuf_partition_bytes, psum_partition_bytes;
    uint32_t collective_cores; /* per core */
} set_limits;

typedef enum set_fault { SET_OK = 0, SET_DAMAGED, SET_OTHER_GENERATION, SET_NO_MEMORY } set_fault;

/* Reads and checks a file; `limits` NULL: for any chip. On a fault fills `why` (of `why_bytes`) and
 * leaves *set empty. */
set_fault trn_set_read(const void* bytes, uint64_t size, const set_limits* limits, program_set* set,
                       char* why, size_t why_bytes);
void trn_set_free(program_set* set);

/* First row of the n-th of a transfer's `count` engines. */
uint32_t trn_set_first_row(const set_transfer* t, uint32_t n, uint32_t count);
uint32_t trn_set_count_bits(uint32_t map);
/* Source of a word. */
typedef struct set_line {
    uint32_t file;   /* index in `files` */
    uint32_t number; /* 0: unknown */
} set_line;
set_line trn_set_line(const program_set* set, const set_stream* stream, uint32_t word);

/* Bytes of an element by type; 0: unknown. */
uint32_t trn_set_type_bytes(uint32_t type);

#ifdef __cplusplus
}
#endif

#endif
