// SPDX-License-Identifier: Apache-2.0
#include "firmware/host/chosen.h"

#include <string.h>

// Devicetree Specification 0.4, 5.2 and 5.4.
enum { BEGIN_NODE = 1, END_NODE = 2, PROPERTY = 3, NOP = 4 };
enum { TOTAL_SIZE = 4, STRUCTURE_OFFSET = 8, STRINGS_OFFSET = 12 };
#define MAGIC 0xd00dfeedu

static uint32_t word_at(const uint8_t* cursor) {
    return (uint32_t)cursor[0] << 24 | (uint32_t)cursor[1] << 16 | (uint32_t)cursor[2] << 8 |
           cursor[3];
}

struct place {
    uint8_t* bytes;  ///< null: there is none
    uint32_t length;
};

/// Bytes from `offset` to the next multiple of four, for a text; 0: it does not end in the tree.
static uint32_t text_size(const uint8_t* tree, uint32_t offset, uint32_t end) {
    const uint8_t* const zero = memchr(tree + offset, 0, end - offset);
    return zero == NULL ? 0 : ((uint32_t)(zero - (tree + offset)) + 4) & ~3u;
}

/// A property of /chosen. The tree may be a user's file: sizes are checked.
static struct place find(uint8_t* tree, const char* name) {
    const struct place none = {NULL, 0};
    if (word_at(tree) != MAGIC) return none;
    const uint32_t end = word_at(tree + TOTAL_SIZE), strings = word_at(tree + STRINGS_OFFSET);
    unsigned depth = 0;
    bool in_chosen = false;
    for (uint32_t cursor = word_at(tree + STRUCTURE_OFFSET); cursor < end && end - cursor >= 12;) {
        const uint32_t token = word_at(tree + cursor);
        cursor += 4;
        if (token == BEGIN_NODE) {
            const uint32_t size = text_size(tree, cursor, end);
            if (size == 0) return none;
            if (++depth == 2) in_chosen = strcmp((const char*)tree + cursor, "chosen") == 0;
            cursor += size;
        } else if (token == END_NODE) {
            --depth;
        } else if (token == PROPERTY) {
            const uint32_t length = word_at(tree + cursor), text = word_at(tree + cursor + 4);
            cursor += 8;
            if (length > end - cursor || strings >= end || text >= end - strings) return none;
            if (in_chosen && depth == 2 && text_size(tree, strings + text, end) != 0 &&
                strcmp((const char*)tree + strings + text, name) == 0)
                return (struct place){tree + cursor, length};
            cursor += (length + 3) & ~3u;
        } else if (token != NOP) {
            return none;
        }
    }
    return none;
}

bool chosen_set(uint8_t* tree, const struct chosen_value* values, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const struct place found = find(tree, values[i].name);
        const bool is_short = found.length == 4 && values[i].value <= UINT32_MAX;
        if (found.bytes == NULL || (!is_short && found.length != 8)) return false;
    }
    for (size_t i = 0; i < count; ++i) {
        const struct place found = find(tree, values[i].name);
        uint64_t value = values[i].value;
        for (uint32_t n = found.length; n-- > 0; value >>= 8) found.bytes[n] = (uint8_t)value;
    }
    return true;
}
