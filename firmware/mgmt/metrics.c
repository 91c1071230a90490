// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/metrics.h"

#include <string.h>

static struct metric {
    uint8_t id;  ///< 0: free
    char text[METRICS_TEXT];
} metrics[METRICS_MAX];

/// The entry of `id`; without one, a free entry if `add`, else NULL. NULL when the table is full.
static struct metric* find(uint8_t id, bool add) {
    struct metric* vacant = NULL;
    for (struct metric* m = metrics; m < metrics + METRICS_MAX; ++m) {
        if (m->id == id) return m;
        if (m->id == 0 && vacant == NULL) vacant = m;
    }
    return add ? vacant : NULL;
}

static void keep(uint8_t id, const uint8_t* text, size_t length) {
    struct metric* metric = find(id, true);
    if (metric == NULL) return;  // table full: never with the driver's number of metrics
    if (length >= METRICS_TEXT) length = METRICS_TEXT - 1;
    metric->id = id;
    memcpy(metric->text, text, length);
    metric->text[length] = 0;
}

/// Bytes of a record; 0 at the end of the list; more than `left` for a truncated record.
static size_t record_size(const uint8_t* record, size_t left) {
    if (left == 0 || record[0] == 0) return 0;
    return left == 1 ? 2 : 2u + record[1];
}

bool metrics_keep(const uint8_t* bytes, size_t length) {
    size_t end = 0;
    for (size_t size; (size = record_size(bytes + end, length - end)) != 0; end += size)
        if (size > length - end) return false;
    for (size_t position = 0; position < end; position += 2u + bytes[position + 1])
        keep(bytes[position], bytes + position + 2, bytes[position + 1]);
    return true;
}

const char* metrics_find(uint8_t id) {
    const struct metric* metric = id == 0 ? NULL : find(id, false);
    return metric ? metric->text : NULL;
}

unsigned metrics_count(void) {
    unsigned count = 0;
    for (const struct metric* m = metrics; m < metrics + METRICS_MAX; ++m) count += m->id != 0;
    return count;
}
