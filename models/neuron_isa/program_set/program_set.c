/* SPDX-License-Identifier: Apache-2.0 */
#include "models/neuron_isa/program_set/program_set.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trn/program_set_regs.h"

/* Layout: program_set.regs.yaml. */

#define AT(name) TRN_PROGRAM_SET_##name##_OFFSET
#define HEADER_BYTES 128u
#define MAX_FILE_BYTES (256u << 20)
#define MAX_TENSOR_BYTES (UINT64_C(1) << 40)
#define PARTITIONS 128u
#define MAX_ALIGNMENT (1u << 30)
#define MAX_NAME_BYTES 63u
#define MAX_PATH_BYTES 4095u

/* Tables in the order of the header: `begin` is the offset of the record's first field in the
 * register description. */
enum { STREAMS, TENSORS, TRANSFERS, RELOCATIONS, SEMAPHORES, LINES, FILES, STRINGS, TABLES };
static const struct {
    uint32_t begin, bytes, max;
    const char* name;
} kinds[TABLES] = {
    {AT(STREAM_CORE), AT(TENSOR_NAME) - AT(STREAM_CORE), SET_MAX_CORES* SET_ENGINES, "streams"},
    {AT(TENSOR_NAME), AT(TRANSFER_NAME) - AT(TENSOR_NAME), 1u << 14, "tensors"},
    {AT(TRANSFER_NAME), AT(RELOCATION_STREAM) - AT(TRANSFER_NAME), 1u << 18, "transfers"},
    {AT(RELOCATION_STREAM), AT(SEMAPHORE_CORE) - AT(RELOCATION_STREAM), 1u << 20, "relocations"},
    {AT(SEMAPHORE_CORE), AT(LINE) - AT(SEMAPHORE_CORE), SET_MAX_CORES * 2 * SET_FIRST_EVENT,
     "semaphores"},
    {AT(LINE), AT(FILE_NAME) - AT(LINE), 1u << 25, "lines"},
    {AT(FILE_NAME), 4, 256, "files"},
    {0, 1, 16u << 20, "bytes of strings"},
};

typedef struct reader {
    const uint8_t* file;
    uint64_t size;
    const set_limits* limits;
    program_set* set;
    const uint8_t* tables[TABLES];
    uint32_t counts[TABLES];
    set_fault fault;
    char* why;
    size_t why_bytes;
} reader;

static uint32_t get(const uint8_t* bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Records the first fault only. Returns false, for `return fail(...)`. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static bool
fail(reader* r, set_fault fault, const char* format, ...) {
    if (r->fault != SET_OK) return false;
    r->fault = fault;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->why, r->why_bytes, format, arguments);
    va_end(arguments);
    return false;
}

/* A field of a record; `offset`: its offset in the register description. */
static uint32_t field(const reader* r, uint32_t table, uint32_t record, uint32_t offset) {
    return get(r->tables[table] + (uint64_t)record * kinds[table].bytes + offset -
               kinds[table].begin);
}
static uint64_t wide_field(const reader* r, uint32_t table, uint32_t record, uint32_t offset) {
    return field(r, table, record, offset) | (uint64_t)field(r, table, record, offset + 4) << 32;
}
/* A field that must be less than `bound`; 0 after a fault. */
static uint32_t below(reader* r, uint32_t table, uint32_t record, uint32_t offset, uint32_t bound,
                      const char* noun) {
    const uint32_t value = field(r, table, record, offset);
    if (value < bound) return value;
    fail(r, SET_DAMAGED, "%s, record %u: %s is %u, expected less than %u", kinds[table].name,
         record, noun, value, bound);
    return 0;
}
static const char* string(reader* r, uint32_t table, uint32_t record, uint32_t offset,
                          uint32_t max) {
    const uint32_t place = field(r, table, record, offset);
    const uint32_t size = r->counts[STRINGS];
    const uint32_t left = place < size ? size - place : 0;
    if (left != 0 && memchr(r->tables[STRINGS] + place, 0, left <= max ? left : max + 1))
        return (const char*)r->tables[STRINGS] + place;
    fail(r, SET_DAMAGED, "%s, record %u: its name is not in the strings, or has over %u bytes",
         kinds[table].name, record, max);
    return "";
}

static bool read_header(reader* r) {
    if (r->size < HEADER_BYTES ||
        get(r->file + AT(MAGIC_LO)) != TRN_PROGRAM_SET_MAGIC_LO_WORD_VALUE ||
        get(r->file + AT(MAGIC_HI)) != TRN_PROGRAM_SET_MAGIC_HI_WORD_VALUE)
        return fail(r, SET_DAMAGED, "it does not begin with TRNPSET");
    const uint32_t version = get(r->file + AT(VERSION));
    if (version != TRN_PROGRAM_SET_VERSION_NUMBER_VALUE)
        return fail(r, SET_DAMAGED, "version %u of the format, expected %u: assemble it again",
                    version, TRN_PROGRAM_SET_VERSION_NUMBER_VALUE);
    if (get(r->file + AT(BYTES)) != r->size)
        return fail(r, SET_DAMAGED, "its header says %u bytes, there are %llu",
                    get(r->file + AT(BYTES)), (unsigned long long)r->size);
    r->set->generation = get(r->file + AT(GENERATION));
    if (r->set->generation == 1 || r->set->generation > 4)
        return fail(r, SET_DAMAGED, "generation %u", r->set->generation);
    if (r->limits && r->set->generation != 0 && r->set->generation != r->limits->generation)
        return fail(r, SET_OTHER_GENERATION, "made for generation v%u, this chip is v%u",
                    r->set->generation, r->limits->generation);
    r->set->cores = get(r->file + AT(CORES));
    if (r->set->cores == 0 || r->set->cores > SET_MAX_CORES)
        return fail(r, SET_DAMAGED, "%u cores, expected 1 to %u", r->set->cores, SET_MAX_CORES);
    for (uint32_t t = 0; t < TABLES; ++t) {
        const uint32_t offset = get(r->file + AT(TABLE_OFFSET)(t));
        const uint32_t count = get(r->file + AT(TABLE_COUNT)(t));
        if (count > kinds[t].max)
            return fail(r, SET_DAMAGED, "%u %s, at most %u are possible", count, kinds[t].name,
                        kinds[t].max);
        if (offset > r->size || (uint64_t)count * kinds[t].bytes > r->size - offset)
            return fail(r, SET_DAMAGED, "its %s are not inside the file", kinds[t].name);
        r->tables[t] = r->file + offset;
        r->counts[t] = count;
    }
    return true;
}

static bool allocate(reader* r) {
    program_set* s = r->set;
    s->stream_count = r->counts[STREAMS];
    s->tensor_count = r->counts[TENSORS];
    s->transfer_count = r->counts[TRANSFERS];
    s->relocation_count = r->counts[RELOCATIONS];
    s->semaphore_count = r->counts[SEMAPHORES];
    s->file_count = r->counts[FILES];
    s->streams = calloc(s->stream_count + 1u, sizeof *s->streams);
    s->tensors = calloc(s->tensor_count + 1u, sizeof *s->tensors);
    s->transfers = calloc(s->transfer_count + 1u, sizeof *s->transfers);
    s->relocations = calloc(s->relocation_count + 1u, sizeof *s->relocations);
    s->semaphores = calloc(s->semaphore_count + 1u, sizeof *s->semaphores);
    s->files = calloc(s->file_count + 1u, sizeof *s->files);
    if (s->streams && s->tensors && s->transfers && s->relocations && s->semaphores && s->files)
        return true;
    return fail(r, SET_NO_MEMORY, "no host memory for its tables");
}

static void read_streams(reader* r) {
    uint32_t lines = 0, seen[SET_MAX_CORES] = {0};
    uint64_t bytes = 0;
    for (uint32_t n = 0; n < r->counts[STREAMS] && r->fault == SET_OK; ++n) {
        set_stream* s = &r->set->streams[n];
        s->core = below(r, STREAMS, n, AT(STREAM_CORE), r->set->cores, "core");
        s->engine = below(r, STREAMS, n, AT(STREAM_ENGINE), SET_ENGINES, "engine");
        s->words = field(r, STREAMS, n, AT(STREAM_WORDS));
        const uint32_t offset = field(r, STREAMS, n, AT(STREAM_OFFSET));
        if (seen[s->core] >> s->engine & 1)
            fail(r, SET_DAMAGED, "two streams for engine %u of core %u", s->engine, s->core);
        seen[s->core] |= 1u << s->engine;
        if (offset % SET_WORD_BYTES || offset > r->size ||
            (uint64_t)s->words * SET_WORD_BYTES > r->size - offset) {
            fail(r, SET_DAMAGED, "stream %u: its words are not inside the file", n);
            return;
        }
        bytes += (uint64_t)s->words * SET_WORD_BYTES;
        if (bytes > r->size) {
            fail(r, SET_DAMAGED, "stream %u: it shares words with another one", n);
            return;
        }
        s->bytes = r->file + offset;
        s->first_line = lines;
        lines += s->words;
    }
    if (r->counts[LINES] != 0 && r->counts[LINES] != lines)
        fail(r, SET_DAMAGED, "%u lines of %u words", r->counts[LINES], lines);
    if (r->counts[LINES] != 0) r->set->lines = r->tables[LINES];
}

static void read_tensors(reader* r) {
    for (uint32_t n = 0; n < r->counts[TENSORS] && r->fault == SET_OK; ++n) {
        set_tensor* t = &r->set->tensors[n];
        t->name = string(r, TENSORS, n, AT(TENSOR_NAME), MAX_NAME_BYTES);
        t->type = field(r, TENSORS, n, AT(TENSOR_TYPE));
        t->role = below(r, TENSORS, n, AT(TENSOR_ROLE), 4, "role");
        t->core = below(r, TENSORS, n, AT(TENSOR_CORE), r->set->cores, "core");
        t->alignment = below(r, TENSORS, n, AT(TENSOR_ALIGNMENT), MAX_ALIGNMENT + 1, "alignment");
        t->rank = below(r, TENSORS, n, AT(TENSOR_RANK), SET_MAX_RANK + 1, "rank");
        t->bytes = trn_set_type_bytes(t->type);
        if (t->rank == 0)
            fail(r, SET_DAMAGED, "tensor %u: rank 0, expected 1 to %u", n, SET_MAX_RANK);
        if (t->alignment == 0 || t->alignment & (t->alignment - 1))
            fail(r, SET_DAMAGED, "tensor %u: its alignment is no power of two", n);
        for (uint32_t d = 0; d < t->rank && t->bytes != 0; ++d) {
            t->dimensions[d] = field(r, TENSORS, n, AT(TENSOR_DIMENSION)(d));
            /* Each factor is limited before the multiplication. */
            t->bytes = t->dimensions[d] < MAX_TENSOR_BYTES / t->bytes + 1
                           ? t->bytes * t->dimensions[d]
                           : MAX_TENSOR_BYTES;
            if (t->bytes >= MAX_TENSOR_BYTES) break;
        }
        if (t->bytes == 0 || t->bytes >= MAX_TENSOR_BYTES)
            fail(r, SET_DAMAGED, "tensor %u: unknown type, or not 1 byte to 1 TiB", n);
    }
}

/* Advances *at by `count` steps of `stride` bytes. Whether it is at most `end`. */
static bool reaches(uint64_t* position, uint64_t count, uint64_t stride, uint64_t end) {
    if (count != 0 && stride > end / count) return false;
    *position += count * stride;
    return *position <= end;
}

static void check_side(reader* r, const set_transfer* t, const set_side* s) {
    const bool is_tensor = s->memory == SET_TENSOR;
    uint64_t end = MAX_TENSOR_BYTES, position = s->offset; /* no memory of a core is larger */
    if (is_tensor)
        end = r->set->tensors[s->object].bytes;
    else if (r->limits)
        end = s->memory == SET_SBUF ? r->limits->sbuf_partition_bytes
                                    : r->limits->psum_partition_bytes;
    bool inside = position <= end && reaches(&position, t->blocks - 1, s->block, end) &&
                  (!is_tensor || reaches(&position, t->rows - 1, s->row, end)) &&
                  t->bytes <= end - position;
    if (!is_tensor && (s->row > PARTITIONS || t->rows > PARTITIONS - s->row)) inside = false;
    if (!inside)
        fail(r, SET_DAMAGED, "transfer %s: its %s is outside the %s", t->name,
             s == t->sides ? "source" : "destination", is_tensor ? "tensor" : "partitions");
}

static void read_transfers(reader* r) {
    for (uint32_t n = 0; n < r->counts[TRANSFERS] && r->fault == SET_OK; ++n) {
        set_transfer* t = &r->set->transfers[n];
        t->name = string(r, TRANSFERS, n, AT(TRANSFER_NAME), MAX_NAME_BYTES);
        t->core = below(r, TRANSFERS, n, AT(TRANSFER_CORE), r->set->cores, "core");
        t->queue = below(r, TRANSFERS, n, AT(TRANSFER_QUEUE), SET_QUEUES, "queue");
        t->engines =
            below(r, TRANSFERS, n, AT(TRANSFER_ENGINES), 1u << SET_DMA_ENGINES, "map of engines");
        t->semaphore_core =
            below(r, TRANSFERS, n, AT(TRANSFER_SEMAPHORE_CORE), r->set->cores, "core");
        t->semaphore = field(r, TRANSFERS, n, AT(TRANSFER_SEMAPHORE));
        if (t->semaphore != SET_NO_SEMAPHORE)
            below(r, TRANSFERS, n, AT(TRANSFER_SEMAPHORE), 256, "semaphore");
        t->rows = field(r, TRANSFERS, n, AT(TRANSFER_ROWS));
        t->blocks = field(r, TRANSFERS, n, AT(TRANSFER_BLOCKS));
        t->bytes = field(r, TRANSFERS, n, AT(TRANSFER_BYTES));
        if (t->engines == 0 || t->rows == 0 || t->blocks == 0 || t->bytes == 0)
            fail(r, SET_DAMAGED, "transfer %u moves nothing", n);
        for (uint32_t side = 0; side < 2 && r->fault == SET_OK; ++side) {
            const uint32_t offset = (uint32_t)(AT(TRANSFER_SIDE_KIND)(side));
            const uint32_t kind = below(r, TRANSFERS, n, offset, 3, "memory of a side");
            set_side* s = &t->sides[side];
            s->memory = (set_memory)kind;
            s->object = below(r, TRANSFERS, n, offset + 4,
                              s->memory == SET_TENSOR ? r->set->tensor_count : r->set->cores,
                              "tensor or core of a side");
            s->offset = wide_field(r, TRANSFERS, n, offset + 8);
            s->row = wide_field(r, TRANSFERS, n, offset + 16);
            s->block = wide_field(r, TRANSFERS, n, offset + 24);
            if (r->fault == SET_OK) check_side(r, t, s);
        }
    }
}

static void read_relocations(reader* r) {
    for (uint32_t n = 0; n < r->counts[RELOCATIONS] && r->fault == SET_OK; ++n) {
        set_relocation* x = &r->set->relocations[n];
        x->stream = below(r, RELOCATIONS, n, AT(RELOCATION_STREAM), r->set->stream_count, "stream");
        if (r->fault != SET_OK) return;
        x->word =
            below(r, RELOCATIONS, n, AT(RELOCATION_WORD), r->set->streams[x->stream].words, "word");
        x->byte = below(r, RELOCATIONS, n, AT(RELOCATION_BYTE), SET_WORD_BYTES - 7, "byte");
        x->target = (set_target)below(r, RELOCATIONS, n, AT(RELOCATION_KIND), 6, "kind");
        x->core = below(r, RELOCATIONS, n, AT(RELOCATION_CORE), r->set->cores, "core");
        const uint32_t collective_cores =
            r->limits ? r->limits->collective_cores : SET_COLLECTIVE_CORES;
        const uint32_t objects[] = {r->set->tensor_count, 256,        SET_ENGINES, 1,
                                    collective_cores,     SET_ENGINES};
        x->object = below(r, RELOCATIONS, n, AT(RELOCATION_OBJECT), objects[x->target], "object");
        x->addend = wide_field(r, RELOCATIONS, n, AT(RELOCATION_ADDEND_LO));
    }
}

static void read_rest(reader* r) {
    for (uint32_t n = 0; n < r->counts[SEMAPHORES] && r->fault == SET_OK; ++n) {
        r->set->semaphores[n].core =
            below(r, SEMAPHORES, n, AT(SEMAPHORE_CORE), r->set->cores, "core");
        r->set->semaphores[n].index =
            below(r, SEMAPHORES, n, AT(SEMAPHORE_INDEX), 2 * SET_FIRST_EVENT, "index");
    }
    for (uint32_t n = 0; n < r->counts[FILES] && r->fault == SET_OK; ++n)
        r->set->files[n] = string(r, FILES, n, AT(FILE_NAME), MAX_PATH_BYTES);
    for (uint32_t n = 0; n < r->counts[LINES] && r->fault == SET_OK; ++n)
        if (TRN_PROGRAM_SET_LINE_FILE_GET(field(r, LINES, n, AT(LINE))) >= r->counts[FILES])
            fail(r, SET_DAMAGED, "line %u is of a file that is not there", n);
}

set_fault trn_set_read(const void* bytes, uint64_t size, const set_limits* limits, program_set* set,
                       char* why, size_t why_bytes) {
    reader r = {.size = size, .limits = limits, .set = set, .why = why, .why_bytes = why_bytes};
    memset(set, 0, sizeof *set);
    if (size == 0 || size > MAX_FILE_BYTES) {
        fail(&r, SET_DAMAGED, "%llu bytes, at most 256 MiB are possible", (unsigned long long)size);
        return r.fault;
    }
    set->file = malloc(size);
    if (!set->file) {
        fail(&r, SET_NO_MEMORY, "no host memory for the file");
        return r.fault;
    }
    memcpy(set->file, bytes, size);
    r.file = set->file;
    if (read_header(&r) && allocate(&r)) {
        read_streams(&r);
        read_tensors(&r);
        read_transfers(&r);
        read_relocations(&r);
        read_rest(&r);
    }
    if (r.fault != SET_OK) trn_set_free(set);
    return r.fault;
}

void trn_set_free(program_set* set) {
    free(set->streams);
    free(set->tensors);
    free(set->transfers);
    free(set->relocations);
    free(set->semaphores);
    free(set->files);
    free(set->file);
    memset(set, 0, sizeof *set);
}

uint32_t trn_set_first_row(const set_transfer* t, uint32_t n, uint32_t count) {
    return (uint32_t)((uint64_t)t->rows * n / count);
}

uint32_t trn_set_count_bits(uint32_t map) {
    uint32_t count = 0;
    for (; map; map &= map - 1) ++count;
    return count;
}

set_line trn_set_line(const program_set* set, const set_stream* stream, uint32_t word) {
    if (!set->lines || word >= stream->words) return (set_line){0, 0};
    const uint32_t entry = get(set->lines + 4 * ((uint64_t)stream->first_line + word));
    return (set_line){TRN_PROGRAM_SET_LINE_FILE_GET(entry), TRN_PROGRAM_SET_LINE_NUMBER_GET(entry)};
}

uint32_t trn_set_type_bytes(uint32_t type) {
    static const uint8_t bytes[] = {4, 4, 2, 2, 1, 1, 1, 1, 1, 1, 2, 2, 4, 4, 1, 4, 4, 2, 8, 8};
    return type < sizeof bytes ? bytes[type] : 0;
}
