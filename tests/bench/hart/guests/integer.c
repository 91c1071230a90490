// SPDX-License-Identifier: Apache-2.0
// Integer and branch mix: a ring of commands interpreted by a switch, gcd, bit counts, a hash.
#include "guest.h"

enum { ring_size = 512, table_size = 256 };

struct command {
    uint8_t opcode;
    uint8_t to;
    uint16_t a, b;
};

static struct command ring[ring_size];
static uint64_t value[table_size];
static uint32_t counts[16];

static uint64_t gcd(uint64_t a, uint64_t b) {
    while (b != 0) {
        const uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static unsigned ones(uint64_t v) {
    unsigned n = 0;
    for (; v != 0; v &= v - 1) ++n;
    return n;
}

static uint32_t hash(const uint8_t* bytes, unsigned length) {
    uint32_t h = 2166136261u;
    for (unsigned i = 0; i < length; ++i) h = (h ^ bytes[i]) * 16777619u;
    return h;
}

static void execute(const struct command* c) {
    uint64_t* const to = &value[c->to];
    const uint64_t a = value[c->a % table_size], b = value[c->b % table_size];
    ++counts[c->opcode];
    switch (c->opcode) {
    case 0:
        *to = a + b;
        break;
    case 1:
        *to = a - b;
        break;
    case 2:
        *to = a ^ (b << 3);
        break;
    case 3:
        *to = a < b ? b - a : a * 3;
        break;
    case 4:
        *to = (a >> (b & 15)) | (b << 7);
        break;
    case 5:
        *to = ones(a ^ b);
        break;
    case 6:
        *to = gcd((a & 0xffff) + 1, (b & 0xfff) + 1);
        break;
    case 7:
        *to = hash((const uint8_t*)&value[c->a % (table_size - 4)], 24);
        break;
    case 8:
        *to = a & 1 ? a * 3 + 1 : a / 2;
        break;
    case 9:
        for (unsigned i = 0; i < 8 && value[(c->b + i) % table_size] > a; ++i) *to += i;
        break;
    case 10:
        *to = (int64_t)a < (int64_t)b ? a : b;
        break;
    default:
        *to = a + (uint64_t)c->a * c->b;
        break;
    }
}

int main(void) {
    uint32_t seed = 12345;
    for (unsigned i = 0; i < ring_size; ++i) {
        seed = seed * 1103515245u + 12345u;
        ring[i] = (struct command){(seed >> 16) % 12, (uint8_t)(seed >> 8), (uint16_t)(seed >> 3),
                                   (uint16_t)(seed >> 13)};
    }
    for (unsigned i = 0; i < table_size; ++i) value[i] = i * 0x9e3779b97f4a7c15u;
    for (unsigned round = 0; round < ROUNDS; ++round)
        for (unsigned i = 0; i < ring_size; ++i) execute(&ring[i]);
    return check(hash((const uint8_t*)value, sizeof value));
}
