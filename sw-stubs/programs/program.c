/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <stdlib.h>
#include <string.h>

/* Loads a program; access to its tensors. */

bool trn_program_possible(const trn_device* device) {
    if (!device) return false;
    return device->ready;
}

static trn_status check_options(trn_device* device, const trn_program_options* o) {
    trn_status status = trn_need_ready(device);
    if (status == TRN_OK) status = trn_need_core(device, o->core);
    if (status == TRN_OK) status = trn_need_range(device, o->memory, o->memory_bytes);
    if (status != TRN_OK) return status;
    if (o->notify_slot > 15)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "no notification slot %u: a core has 16",
                        o->notify_slot);
    return TRN_OK;
}

static trn_status read_set(trn_program* program, const void* bytes, uint64_t size) {
    trn_device* device = program->device;
    const set_limits limits = {
        .generation = device->generation->architecture,
        .sbuf_partition_bytes = device->generation->state_buffer_bytes / CORE_PARTITIONS,
        .psum_partition_bytes = PSUM_PARTITION_BYTES,
        .collective_cores = device->map->top_sps / device->map->cores};
    char why[256];
    switch (trn_set_read(bytes, size, &limits, &program->set, why, sizeof why)) {
    case SET_OK:
        break;
    case SET_OTHER_GENERATION:
        return trn_fail(device, TRN_NOT_SUPPORTED, "program set: %s", why);
    case SET_NO_MEMORY:
        return trn_fail(device, TRN_NO_MEMORY, "program set: %s", why);
    default:
        return trn_fail(device, TRN_INVALID_ARGUMENT, "program set: %s", why);
    }
    if (program->set.cores > device->map->cores - program->options.core)
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "the program needs %u cores from core %u on: there are %u",
                        program->set.cores, program->options.core, device->map->cores);
    return TRN_OK;
}

/* Accounts for the memory of the loaded programs. */
static void account_memory(trn_device* device) {
    trn_core_account* cores = device->accounts.cores;
    for (uint32_t core = 0; core < TRN_MAX_CORES; ++core)
        memset(cores[core].memory, 0, sizeof cores[core].memory);
    for (const trn_member* p = device->programs; p; p = p->next) {
        const trn_program* program = (const trn_program*)p;
        for (uint32_t core = 0; core < program->set.cores; ++core)
            trn_program_count_memory(program, core, cores[program->options.core + core].memory);
    }
    trn_accounts_changed(device);
}

void trn_program_free(trn_program* program) {
    if (!program) return;
    const bool was_loaded = program->loaded.link != NULL; /* else its device may have ended */
    trn_list_remove(&program->loaded);
    if (was_loaded) account_memory(program->device);
    for (uint32_t core = 0; core < SET_MAX_CORES; ++core) free(program->cores[core].bytes);
    trn_set_free(&program->set);
    free(program->tensors);
    free(program);
}

trn_status trn_program_load(trn_device* device, const void* bytes, uint64_t size,
                            const trn_program_options* options, trn_program** program) {
    if (!device || !program || (size && !bytes)) return trn_no_argument(device);
    static const trn_program_options defaults;
    *program = NULL;
    trn_status status = check_options(device, options ? options : &defaults);
    if (status != TRN_OK) return status;
    trn_program* p = calloc(1, sizeof *p);
    if (!p) return trn_fail(device, TRN_NO_MEMORY, "no host memory for a program");
    p->device = device;
    p->options = options ? *options : defaults;
    status = read_set(p, bytes, size);
    if (status == TRN_OK) {
        p->tensors = calloc(p->set.tensor_count + 1u, sizeof *p->tensors);
        status = p->tensors ? trn_program_place(p)
                            : trn_fail(device, TRN_NO_MEMORY, "no host memory for tensors");
    }
    if (status != TRN_OK) {
        trn_program_free(p);
        return status;
    }
    trn_list_add(&device->programs, &p->loaded);
    for (uint32_t core = 0; core < p->set.cores; ++core)
        ++device->accounts.cores[p->options.core + core].loads;
    account_memory(device);
    *program = p;
    return TRN_OK;
}

static trn_status stop_engines(trn_program* program) {
    trn_mmio io = trn_mmio_of(program->device);
    for (uint32_t core = 0; core < program->set.cores; ++core)
        for (uint32_t e = 0; e < SET_ENGINES; ++e)
            if (program->cores[core].stream[e] != NO_STREAM && !(program->over[core] >> e & 1))
                trn_mmio_write(&io,
                               trn_control_in_bar(program->device, program->options.core + core, e),
                               TRN_SEQUENCER_CONTROL_STOP_MASK);
    return io.status;
}

bool trn_program_lost_core(const trn_program* program, uint32_t core) {
    return trn_core_resets(program->device, program->options.core + core) != program->resets[core];
}

trn_status trn_program_release(trn_program* program) {
    trn_device* device = program->device;
    trn_status status = TRN_OK;
    for (uint32_t core = 0; core < program->set.cores; ++core) {
        program_core* c = &program->cores[core];
        const uint32_t first = (program->options.core + core) * TRN_ENGINES_PER_CORE;
        /* A reset has released the queues, which may have other rings since. */
        const bool has_queues = program->has_queues && !trn_program_lost_core(program, core);
        for (uint32_t e = 0; e < SET_DMA_ENGINES && has_queues; ++e)
            for (uint32_t q = 0; q < RING_QUEUES; ++q)
                if (c->rings[e][q].length && device->user_rings[first + e] >> q & 1) {
                    const trn_status released = trn_ring_release(device, first + e, q);
                    if (status == TRN_OK) status = released;
                }
        if (c->has_notifications) {
            const trn_status closed = trn_notifications_close(device, &c->notifications);
            if (status == TRN_OK) status = closed;
        }
        c->has_notifications = false;
    }
    program->has_queues = program->is_prepared = false;
    return status;
}

trn_status trn_program_unload(trn_program* program) {
    if (!program) return TRN_OK;
    trn_status status = program->is_running ? stop_engines(program) : TRN_OK;
    const trn_status released = trn_program_release(program);
    if (status == TRN_OK) status = released;
    trn_program_free_memory(program);
    trn_program_free(program);
    return status;
}

/* ---- tensors ---- */

const char* trn_tensor_type_name(uint32_t type) {
    static const char* const names[] = {"fp32",        "tf32",        "bf16",       "fp16",
                                        "fp8_e3m4",    "fp8_e4m3",    "fp8_e4m3fn", "fp8_e5m2",
                                        "int8",        "uint8",       "int16",      "uint16",
                                        "int32",       "uint32",      "e8m0",       "fp8_e4m3fn_x4",
                                        "fp8_e5m2_x4", "fp4_e2m1_x4", "int64",      "uint64"};
    return type < sizeof names / sizeof names[0] ? names[type] : "unknown";
}

uint32_t trn_tensor_type_bytes(uint32_t type) {
    return trn_set_type_bytes(type);
}

uint32_t trn_program_tensors(const trn_program* program) {
    if (!program) return 0;
    return program->set.tensor_count;
}

bool trn_program_tensor(const trn_program* program, uint32_t number, trn_tensor* tensor) {
    if (!program || !tensor) return false;
    if (number >= program->set.tensor_count) return false;
    const set_tensor* t = &program->set.tensors[number];
    *tensor = (trn_tensor){.name = t->name,
                           .type = t->type,
                           .role = (trn_tensor_role)t->role,
                           .rank = t->rank,
                           .bytes = t->bytes,
                           .address = program->tensors[number]};
    memcpy(tensor->dimensions, t->dimensions, sizeof tensor->dimensions);
    return true;
}

bool trn_program_find_tensor(const trn_program* program, const char* name, uint32_t* number) {
    if (!program || !name || !number) return false;
    for (*number = 0; *number < program->set.tensor_count; ++*number)
        if (strcmp(program->set.tensors[*number].name, name) == 0) return true;
    return false;
}

static trn_status need_tensor(const trn_program* program, uint32_t tensor) {
    if (tensor < program->set.tensor_count) return TRN_OK;
    return trn_fail(program->device, TRN_INVALID_ARGUMENT, "no tensor %u: the program has %u",
                    tensor, program->set.tensor_count);
}

trn_status trn_program_bind(trn_program* program, uint32_t tensor, uint64_t address) {
    if (!program) return TRN_INVALID_ARGUMENT;
    trn_device* device = program->device;
    trn_status status = need_tensor(program, tensor);
    if (status != TRN_OK) return status;
    const set_tensor* t = &program->set.tensors[tensor];
    status = trn_need_range(device, address, t->bytes);
    if (status != TRN_OK) return status;
    if (program->is_running)
        return trn_fail(device, TRN_BUSY, "the program runs: tensor %s cannot move", t->name);
    if (address % t->alignment)
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "tensor %s: 0x%llx is not a multiple of its alignment %u", t->name,
                        (unsigned long long)address, t->alignment);
    if (address & device->map->host_window &&
        !trn_host_memory_holds(device, address & ~device->map->host_window, t->bytes))
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "tensor %s: 0x%llx is not host memory of this device", t->name,
                        (unsigned long long)address);
    program->tensors[tensor] = address;
    program->is_written = program->is_prepared = false;
    return TRN_OK;
}

static trn_status part_of(const trn_program* program, uint32_t tensor, uint64_t offset,
                          uint64_t size) {
    const trn_status status = need_tensor(program, tensor);
    if (status != TRN_OK) return status;
    const set_tensor* t = &program->set.tensors[tensor];
    if (offset <= t->bytes && size <= t->bytes - offset) return TRN_OK;
    return trn_fail(program->device, TRN_INVALID_ARGUMENT,
                    "tensor %s has %llu bytes: %llu at %llu are not inside", t->name,
                    (unsigned long long)t->bytes, (unsigned long long)size,
                    (unsigned long long)offset);
}

trn_status trn_program_write(trn_program* program, uint32_t tensor, uint64_t offset,
                             const void* bytes, uint64_t size) {
    if (!program || (size && !bytes)) return TRN_INVALID_ARGUMENT;
    const trn_status status = part_of(program, tensor, offset, size);
    if (status != TRN_OK) return status;
    return trn_write(program->device, program->options.core + program->set.tensors[tensor].core,
                     program->tensors[tensor] + offset, bytes, size);
}

trn_status trn_program_read(trn_program* program, uint32_t tensor, uint64_t offset, void* bytes,
                            uint64_t size) {
    if (!program || (size && !bytes)) return TRN_INVALID_ARGUMENT;
    const trn_status status = part_of(program, tensor, offset, size);
    if (status != TRN_OK) return status;
    return trn_read(program->device, program->options.core + program->set.tensors[tensor].core,
                    bytes, program->tensors[tensor] + offset, size);
}

/* ---- cores and source lines ---- */

uint32_t trn_program_cores(const trn_program* program) {
    if (!program) return 0;
    return program->set.cores;
}

bool trn_program_uses(const trn_program* program, uint32_t core, uint32_t engine) {
    if (!program) return false;
    return core < program->set.cores && engine < SET_ENGINES &&
           program->cores[core].stream[engine] != NO_STREAM;
}

bool trn_program_source(const trn_program* program, uint32_t core, uint32_t engine, uint32_t pc,
                        const char** file, uint32_t* line) {
    if (!program || !file || !line) return false;
    if (!trn_program_uses(program, core, engine)) return false;
    const set_stream* stream = &program->set.streams[program->cores[core].stream[engine]];
    const set_line source = trn_set_line(&program->set, stream, pc);
    if (source.number == 0) return false;
    *file = program->set.files[source.file];
    *line = source.number;
    return true;
}

uint32_t trn_program_device_core(const trn_program* program, uint32_t core) {
    if (!program) return 0;
    return program->options.core + core;
}
