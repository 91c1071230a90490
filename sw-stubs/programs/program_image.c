/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "sw-stubs/collectives/cc_core.h"

/* Images of a program in HBM: layout, addresses, descriptor rings (NeuronCore spec 5.3, 12). */

#define RING_ALIGNMENT 256u /* contract 6.2 */
#define RING_STEP 16u
#define RING_MIN 32u
#define MAX_DESCRIPTORS (1u << 22) /* of a core */
#define FIRST_PASS 1u              /* ring id, contract 7.4 */
#define LINE_BYTES 4u
#define FILE_NAME_BYTES 128u /* doc/models/neuron_core/sequencer.md, "Source lines" */

static uint64_t aligned(uint64_t value, uint64_t unit) {
    return (value + unit - 1) & ~(unit - 1);
}

static uint32_t pieces_of(const set_transfer* t) {
    return (uint32_t)(((uint64_t)t->bytes + TRN_DESCRIPTOR_BYTES - 1) / TRN_DESCRIPTOR_BYTES);
}

/* ---- layout ---- */

/* Default memory: the upper half of each stack, in equal parts for its cores. With a kernel driver,
 * addresses are offsets from 0 until the driver has allocated the memory. */
static void find_memory(const trn_program* program, uint32_t core, program_core* c) {
    const trn_device* device = program->device;
    if (device->transport.kernel) {
        c->end = device->generation->stack_bytes;
        return;
    }
    const uint32_t per_stack = device->map->cores / device->map->stacks;
    const uint32_t number = program->options.core + core;
    const uint64_t share = device->generation->stack_bytes / 2 / per_stack;
    c->begin = trn_hbm_address(device, number / per_stack,
                               device->generation->stack_bytes / 2 + number % per_stack * share);
    c->end = c->begin + share;
    c->next = c->begin;
}

/* Whether the addresses of the program are in the device's memory: not before a kernel driver has
 * allocated them. */
static bool has_addresses(const trn_program* program) {
    return !program->device->transport.kernel || program->options.memory_bytes;
}

/* The end of a loaded program's memory that overlaps these bytes; 0: there is none. */
static uint64_t end_of_overlap(const trn_program* program, uint64_t address, uint64_t size) {
    const trn_program* other = trn_program_other(program, NULL);
    for (; other; other = trn_program_other(program, other))
        for (uint32_t core = 0; core < other->set.cores; ++core) {
            const program_core* c = &other->cores[core];
            if (c->next != c->begin && address < c->next && c->first < address + size)
                return c->next;
            if (address < c->tensors_end && c->tensors_begin < address + size)
                return c->tensors_end;
        }
    return 0;
}

static trn_status take(trn_program* program, uint32_t core, uint64_t size, uint64_t alignment,
                       uint64_t* address) {
    program_core* c = &program->cores[program->options.memory_bytes ? 0 : core];
    uint64_t start = aligned(c->next, alignment);
    if (has_addresses(program))
        for (uint64_t end; start <= c->end && size <= c->end - start;) {
            end = end_of_overlap(program, start, size);
            if (end == 0) break;
            start = aligned(end, alignment);
        }
    if (start < c->next || start > c->end || size > c->end - start)
        return trn_fail(program->device, TRN_NO_MEMORY,
                        "the program does not fit: %llu bytes more, of %llu for core %u",
                        (unsigned long long)size, (unsigned long long)(c->end - c->begin), core);
    if (c->next == c->begin) c->first = start;
    *address = start;
    c->next = start + size;
    return TRN_OK;
}

static trn_status count_descriptors(trn_program* program) {
    const program_set* set = &program->set;
    uint64_t total[SET_MAX_CORES] = {0};
    for (uint32_t n = 0; n < set->transfer_count; ++n) {
        const set_transfer* t = &set->transfers[n];
        const uint32_t engines = trn_set_count_bits(t->engines);
        /* Each factor is limited before the multiplication. */
        const uint64_t per_row = (uint64_t)t->blocks * pieces_of(t);
        if (t->rows > MAX_DESCRIPTORS || per_row > MAX_DESCRIPTORS / t->rows + 1u)
            total[t->core] = MAX_DESCRIPTORS + 1u;
        else
            total[t->core] += (uint64_t)t->rows * per_row + engines;
        if (total[t->core] > MAX_DESCRIPTORS)
            return trn_fail(program->device, TRN_NO_MEMORY,
                            "transfer %s: more than %u descriptors for core %u", t->name,
                            MAX_DESCRIPTORS, t->core);
        for (uint32_t e = 0, k = 0; e < SET_DMA_ENGINES; ++e) {
            if (!(t->engines >> e & 1)) continue;
            const uint32_t rows =
                trn_set_first_row(t, k + 1, engines) - trn_set_first_row(t, k, engines);
            program->cores[t->core].rings[e][t->queue].count +=
                (uint32_t)(rows * per_row) + (t->semaphore != SET_NO_SEMAPHORE);
            ++k;
        }
    }
    return TRN_OK;
}

/* ---- descriptors that programs generate (rows 18 to 20 of spec 8.2) ---- */

#define OP_DGE_COPY 0x1810u
#define OP_DMA_GATHER 0x1820u /* and DMA_SCATTER, DMA_GATHER_TRANSPOSE after it */
#define OP_LAST_GATHER 0x1822u
#define GATHER_ROOM 255u
#define MAX_SHARE 16384u /* pieces of one generator, doc/dma_compute.md */

static uint32_t half_at(const uint8_t* bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8;
}

/* Room for two commands: one in transfer, one being generated. */
static uint32_t room_of_copy(const uint8_t* word) {
    uint64_t pieces = 1;
    for (uint32_t d = 0; d < 4; ++d) {
        pieces *= half_at(word + 44 + 6 * d); /* counts of the source */
        if (pieces > MAX_SHARE * SET_DMA_ENGINES) pieces = MAX_SHARE * SET_DMA_ENGINES;
    }
    uint32_t engines = trn_set_count_bits(half_at(word + 16));
    if (engines == 0) engines = 1;
    pieces /= engines;
    if (pieces > MAX_SHARE) pieces = MAX_SHARE;
    /* A share is whole matrices of up to 64 rows; sums and matrices have an additional descriptor.
     */
    return (uint32_t)((pieces + 64) * 2 + 1) * 2;
}

static void find_generated(program_core* c, const set_stream* s) {
    for (uint32_t n = 0; n < s->words; ++n) {
        const uint8_t* word = s->bytes + (size_t)n * SET_WORD_BYTES;
        const uint32_t opcode = half_at(word);
        if (opcode == OP_DGE_COPY && word[18] < RING_QUEUES) {
            const uint32_t room = room_of_copy(word);
            for (uint32_t e = 0; e < SET_DMA_ENGINES; ++e) {
                program_ring* ring = &c->rings[e][word[18]];
                if (half_at(word + 16) >> e & 1 && ring->generated < room) ring->generated = room;
            }
        }
        if (opcode >= OP_DMA_GATHER && opcode <= OP_LAST_GATHER)
            for (uint32_t e = 0; e < SET_DMA_ENGINES; ++e)
                if (c->rings[e][GATHER_QUEUE].generated < GATHER_ROOM)
                    c->rings[e][GATHER_QUEUE].generated = GATHER_ROOM;
        if (word[2] & 1) ++n; /* LONG: the next word is not an instruction */
    }
}

/* A queue cannot have both: generated descriptors would overwrite those of transfers, which are in
 * the ring from the start. */
static trn_status check_generated(const trn_program* program, const program_core* c) {
    for (uint32_t e = 0; e < SET_DMA_ENGINES; ++e)
        for (uint32_t q = 0; q < RING_QUEUES; ++q)
            if (c->rings[e][q].count && c->rings[e][q].generated)
                return trn_fail(program->device, TRN_INVALID_ARGUMENT,
                                "queue %u of DMA engine %u has a transfer and a dge_copy: give "
                                "them different queues",
                                q, e);
    return TRN_OK;
}

/* Whether the transfers and the generated descriptors of a core fit. Precondition:
 * count_descriptors succeeded. */
static trn_status check_sum(const trn_program* program, uint32_t core) {
    const program_core* c = &program->cores[core];
    uint64_t sum = 0;
    for (uint32_t e = 0; e < SET_DMA_ENGINES; ++e)
        for (uint32_t q = 0; q < RING_QUEUES; ++q)
            sum += (uint64_t)c->rings[e][q].count + c->rings[e][q].generated;
    if (sum > MAX_DESCRIPTORS)
        return trn_fail(program->device, TRN_NO_MEMORY,
                        "dge_copy: room for %llu descriptors for core %u, more than %u",
                        (unsigned long long)sum, core, MAX_DESCRIPTORS);
    return TRN_OK;
}

static void lay_out_rings(program_core* c, uint64_t* offset) {
    for (uint32_t e = 0; e < SET_DMA_ENGINES; ++e)
        for (uint32_t q = 0; q < RING_QUEUES; ++q) {
            program_ring* ring = &c->rings[e][q];
            if (ring->count + ring->generated == 0) continue;
            /* One entry stays free to distinguish a full ring from an empty one. */
            ring->length = (uint32_t)aligned(ring->count + ring->generated + 1u, RING_STEP);
            if (ring->length < RING_MIN) ring->length = RING_MIN;
            ring->m2s = aligned(*offset, RING_ALIGNMENT);
            ring->s2m = aligned(ring->m2s + ring->length * sizeof(trn_descriptor), RING_ALIGNMENT);
            *offset = ring->s2m + ring->length * sizeof(trn_descriptor);
        }
}

static void lay_out_lines(const program_set* set, program_core* c, uint64_t* offset) {
    for (uint32_t e = 0; e < SET_ENGINES && set->lines; ++e) {
        if (c->stream[e] == NO_STREAM) continue;
        c->lines_at[e] = *offset;
        *offset += (uint64_t)set->streams[c->stream[e]].words * LINE_BYTES +
                   (uint64_t)set->file_count * FILE_NAME_BYTES;
    }
}

void trn_program_free_memory(trn_program* program) {
    for (uint32_t core = 0; core < program->set.cores; ++core) {
        program_core* c = &program->cores[core];
        if (c->has_memory) trn_kernel_memory_free(program->device, c->begin);
        if (c->tensors_begin != c->tensors_end)
            trn_kernel_memory_free(program->device, c->tensors_begin);
        c->has_memory = false;
        c->tensors_end = c->tensors_begin;
    }
}

/* Allocates the memory of a core's tensors, which follow the image in the layout. */
static trn_status allocate_tensors(trn_program* program, uint32_t core) {
    const program_set* set = &program->set;
    program_core* c = &program->cores[core];
    uint64_t alignment = RING_ALIGNMENT;
    for (uint32_t n = 0; n < set->tensor_count; ++n)
        if (set->tensors[n].core == core && set->tensors[n].alignment > alignment)
            alignment = set->tensors[n].alignment;
    const uint64_t begin = (c->image + c->image_bytes) & ~(alignment - 1);
    if (c->next == c->image + c->image_bytes) return TRN_OK;
    const trn_kernel_memory wanted = {.core = program->options.core + core,
                                      .size = c->next - begin,
                                      .alignment = alignment,
                                      .purpose = TRN_MEMORY_TENSORS};
    uint64_t address = 0;
    const trn_status status = trn_kernel_memory_alloc(program->device, wanted, &address);
    if (status != TRN_OK) return status;
    c->tensors_begin = address;
    c->tensors_end = address + wanted.size;
    for (uint32_t n = 0; n < set->tensor_count; ++n)
        if (set->tensors[n].core == core) program->tensors[n] += address - begin;
    return TRN_OK;
}

static trn_status allocate_core(trn_program* program, uint32_t core) {
    program_core* c = &program->cores[core];
    trn_status status = allocate_tensors(program, core);
    if (status != TRN_OK) return status;
    const trn_kernel_memory wanted = {.core = program->options.core + core,
                                      .size = c->image + c->image_bytes,
                                      .alignment = RING_ALIGNMENT,
                                      .purpose = TRN_MEMORY_CODE};
    status = trn_kernel_memory_alloc(program->device, wanted, &c->begin);
    if (status != TRN_OK) return status;
    c->has_memory = true;
    c->image += c->begin;
    c->first += c->begin;
    c->end = c->next = c->begin + wanted.size;
    return TRN_OK;
}

/* Allocates memory of the kernel driver for the layout and adds its address. */
static trn_status allocate(trn_program* program) {
    trn_status status = TRN_OK;
    for (uint32_t core = 0; core < program->set.cores && status == TRN_OK; ++core)
        status = allocate_core(program, core);
    if (status != TRN_OK) trn_program_free_memory(program);
    return status;
}

trn_status trn_program_place(trn_program* program) {
    const program_set* set = &program->set;
    for (uint32_t core = 0; core < set->cores; ++core) {
        program_core* c = &program->cores[core];
        find_memory(program, core, c);
        for (uint32_t e = 0; e < SET_ENGINES; ++e) c->stream[e] = NO_STREAM;
    }
    if (program->options.memory_bytes) {
        program_core* c = &program->cores[0];
        c->begin = c->next = program->options.memory;
        c->end = c->begin + program->options.memory_bytes;
    }
    for (uint32_t n = 0; n < set->stream_count; ++n) {
        program_core* c = &program->cores[set->streams[n].core];
        c->stream[set->streams[n].engine] = n;
        find_generated(c, &set->streams[n]);
    }
    trn_status status = count_descriptors(program);
    for (uint32_t core = 0; core < set->cores && status == TRN_OK; ++core) {
        program_core* c = &program->cores[core];
        status = check_generated(program, c);
        if (status == TRN_OK) status = check_sum(program, core);
        if (status != TRN_OK) break;
        uint64_t offset = SET_WORD_BYTES; /* the constant is first */
        for (uint32_t e = 0; e < SET_ENGINES; ++e) {
            if (c->stream[e] == NO_STREAM) continue;
            c->stream_at[e] = offset;
            offset += (uint64_t)set->streams[c->stream[e]].words * SET_WORD_BYTES;
        }
        lay_out_rings(c, &offset);
        lay_out_lines(set, c, &offset);
        c->image_bytes = offset;
        status = take(program, core, offset, RING_ALIGNMENT, &c->image);
    }
    for (uint32_t n = 0; n < set->tensor_count && status == TRN_OK; ++n)
        status = take(program, set->tensors[n].core, set->tensors[n].bytes,
                      set->tensors[n].alignment < 64 ? 64 : set->tensors[n].alignment,
                      &program->tensors[n]);
    if (status == TRN_OK && program->device->transport.kernel && !program->options.memory_bytes)
        status = allocate(program);
    return status;
}

void trn_program_count_memory(const trn_program* program, uint32_t core, uint64_t* kinds) {
    const program_set* set = &program->set;
    uint64_t code = 0;
    for (uint32_t n = 0; n < set->stream_count; ++n)
        if (set->streams[n].core == core) code += (uint64_t)set->streams[n].words * SET_WORD_BYTES;
    kinds[TRN_KIND_CONSTANTS] += SET_WORD_BYTES;
    kinds[TRN_KIND_CODE] += code;
    kinds[TRN_KIND_RUNTIME] += program->cores[core].image_bytes - SET_WORD_BYTES - code;
    for (uint32_t n = 0; n < set->tensor_count; ++n)
        if (set->tensors[n].core == core)
            kinds[set->tensors[n].role == TRN_TENSOR_SCRATCH ? TRN_KIND_SCRATCHPAD
                                                             : TRN_KIND_TENSORS] +=
                set->tensors[n].bytes;
}

/* ---- content ---- */

static uint64_t core_base(const trn_program* program, uint32_t core) {
    return trn_sbuf_address(program->device, program->options.core + core, 0);
}

static uint64_t address_of(const trn_program* program, const set_relocation* r) {
    const trn_device* device = program->device;
    const program_core* c = &program->cores[r->core];
    switch (r->target) {
    case SET_ADDRESS_TENSOR:
        return program->tensors[r->object];
    case SET_ADDRESS_INCREMENT:
        return core_base(program, r->core) + CORE_SYNC + SYNC(SEMAPHORE_INCREMENT)(r->object);
    case SET_ADDRESS_CONTROL:
        return core_base(program, r->core) + trn_control_in_core(r->object);
    case SET_ADDRESS_SBUF:
        return core_base(program, r->core);
    case SET_ADDRESS_COLLECTIVE:
        return trn_cc_axi_address(device, (program->options.core + r->core) *
                                                  (device->map->top_sps / device->map->cores) +
                                              r->object);
    case SET_ADDRESS_PROGRAM:
        break;
    }
    return c->image + c->stream_at[r->object];
}

static uint64_t side_address(const trn_program* program, const set_side* s, uint32_t row) {
    if (s->memory == SET_TENSOR) return program->tensors[s->object] + s->offset + row * s->row;
    const uint64_t partition = s->row + row;
    const uint64_t base = core_base(program, s->object) + s->offset;
    return s->memory == SET_PSUM
               ? base + CORE_PSUM + partition * PSUM_PARTITION_BYTES
               : base + partition *
                            (program->device->generation->state_buffer_bytes / CORE_PARTITIONS);
}

static void put(program_core* c, program_ring* ring, uint64_t source, uint64_t destination,
                uint32_t size, bool is_last) {
    const trn_descriptor m2s =
        trn_m2s_descriptor(source, size, FIRST_PASS, is_last ? TRN_WRITE_BARRIER : 0);
    const trn_descriptor s2m = trn_s2m_descriptor(destination, size, FIRST_PASS, 0);
    const uint64_t offset = ring->filled++ * sizeof(trn_descriptor);
    memcpy(c->bytes + ring->m2s + offset, &m2s, sizeof m2s);
    memcpy(c->bytes + ring->s2m + offset, &s2m, sizeof s2m);
}

static void put_rows(trn_program* program, const set_transfer* t, program_ring* ring,
                     uint32_t first, uint32_t end) {
    program_core* c = &program->cores[t->core];
    for (uint32_t row = first; row < end; ++row) {
        const uint64_t source = side_address(program, &t->sides[0], row);
        const uint64_t destination = side_address(program, &t->sides[1], row);
        for (uint32_t block = 0; block < t->blocks; ++block)
            for (uint64_t done = 0; done < t->bytes; done += TRN_DESCRIPTOR_BYTES) {
                const uint64_t left = t->bytes - done;
                const uint32_t size =
                    (uint32_t)(left < TRN_DESCRIPTOR_BYTES ? left : TRN_DESCRIPTOR_BYTES);
                put(c, ring, source + block * t->sides[0].block + done,
                    destination + block * t->sides[1].block + done, size,
                    row + 1 == end && block + 1 == t->blocks && left == size);
            }
    }
}

/* Descriptors of each engine's rows, then a write of 4 bytes that adds 1 to the semaphore. */
static void put_transfer(trn_program* program, const set_transfer* t) {
    program_core* c = &program->cores[t->core];
    const uint32_t engines = trn_set_count_bits(t->engines);
    for (uint32_t e = 0, k = 0; e < SET_DMA_ENGINES; ++e) {
        if (!(t->engines >> e & 1)) continue;
        program_ring* ring = &c->rings[e][t->queue];
        put_rows(program, t, ring, trn_set_first_row(t, k, engines),
                 trn_set_first_row(t, k + 1, engines));
        ++k;
        if (t->semaphore != SET_NO_SEMAPHORE)
            put(c, ring, c->image,
                core_base(program, t->semaphore_core) + CORE_SYNC +
                    SYNC(SEMAPHORE_INCREMENT)(t->semaphore),
                4, false);
    }
}

/* Writes the lines of a stream, then the file names; long names are truncated at the front. */
static void put_lines(const program_set* set, const set_stream* s, uint8_t* bytes) {
    memcpy(bytes, set->lines + (uint64_t)s->first_line * LINE_BYTES, (size_t)s->words * LINE_BYTES);
    bytes += (size_t)s->words * LINE_BYTES;
    for (uint32_t f = 0; f < set->file_count; ++f, bytes += FILE_NAME_BYTES) {
        const size_t length = strlen(set->files[f]);
        const size_t kept = length < FILE_NAME_BYTES ? length : FILE_NAME_BYTES - 1;
        memcpy(bytes, set->files[f] + length - kept, kept);
    }
}

static trn_status make_image(trn_program* program, uint32_t core) {
    program_core* c = &program->cores[core];
    if (!c->bytes) c->bytes = malloc(c->image_bytes);
    if (!c->bytes)
        return trn_fail(program->device, TRN_NO_MEMORY, "no host memory for %llu bytes of rings",
                        (unsigned long long)c->image_bytes);
    memset(c->bytes, 0, c->image_bytes);
    c->bytes[0] = 1;
    for (uint32_t e = 0; e < SET_ENGINES; ++e)
        if (c->stream[e] != NO_STREAM) {
            const set_stream* s = &program->set.streams[c->stream[e]];
            memcpy(c->bytes + c->stream_at[e], s->bytes, (size_t)s->words * SET_WORD_BYTES);
            if (program->set.lines) put_lines(&program->set, s, c->bytes + c->lines_at[e]);
        }
    for (uint32_t e = 0; e < SET_DMA_ENGINES; ++e)
        for (uint32_t q = 0; q < RING_QUEUES; ++q) c->rings[e][q].filled = 0;
    return TRN_OK;
}

static void relocate(trn_program* program, const set_relocation* r) {
    const set_stream* s = &program->set.streams[r->stream];
    program_core* c = &program->cores[s->core];
    const uint64_t value = address_of(program, r) + r->addend;
    uint8_t* field =
        c->bytes + c->stream_at[s->engine] + (size_t)r->word * SET_WORD_BYTES + r->byte;
    for (uint32_t b = 0; b < 8; ++b) field[b] = (uint8_t)(value >> 8 * b);
}

trn_status trn_program_write_images(trn_program* program) {
    const program_set* set = &program->set;
    trn_status status = TRN_OK;
    for (uint32_t core = 0; core < set->cores && status == TRN_OK; ++core)
        status = make_image(program, core);
    if (status != TRN_OK) return status;
    for (uint32_t n = 0; n < set->relocation_count; ++n) relocate(program, &set->relocations[n]);
    for (uint32_t n = 0; n < set->transfer_count; ++n) put_transfer(program, &set->transfers[n]);
    for (uint32_t core = 0; core < set->cores && status == TRN_OK; ++core) {
        program_core* c = &program->cores[core];
        status = trn_write(program->device, program->options.core + core, c->image, c->bytes,
                           c->image_bytes);
        free(c->bytes);
        c->bytes = NULL;
    }
    return status;
}
