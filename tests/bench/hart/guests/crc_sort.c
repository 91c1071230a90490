// SPDX-License-Identifier: Apache-2.0
// CRC-32 by table over 16 KiB, then quicksort of 4,096 words.
#include "guest.h"

enum { buffer_size = 16 * 1024, word_count = 4096 };

static uint32_t table[256];
static uint8_t buffer[buffer_size];
static uint32_t words[word_count];

static void make_table(void) {
    for (uint32_t i = 0; i < 256; ++i) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; ++bit) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
        table[i] = c;
    }
}

static uint32_t crc32(const uint8_t* data, unsigned length, uint32_t crc) {
    crc = ~crc;
    for (unsigned i = 0; i < length; ++i) crc = table[(crc ^ data[i]) & 0xff] ^ (crc >> 8);
    return ~crc;
}

static void quicksort(uint32_t* v, int low, int high) {
    while (low < high) {
        const uint32_t pivot = v[(low + high) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (v[i] < pivot) ++i;
            while (v[j] > pivot) --j;
            if (i <= j) {
                const uint32_t t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        }
        if (j - low < high - i) {
            quicksort(v, low, j);
            low = i;
        } else {
            quicksort(v, i, high);
            high = j;
        }
    }
}

int main(void) {
    uint32_t crc = 0, seed = 1;
    make_table();
    for (unsigned round = 0; round < ROUNDS; ++round) {
        for (unsigned i = 0; i < word_count; ++i) words[i] = seed = seed * 1664525u + 1013904223u;
        for (unsigned i = 0; i < buffer_size; ++i)
            buffer[i] = (uint8_t)(words[i % word_count] >> 24);
        crc = crc32(buffer, buffer_size, crc);
        quicksort(words, 0, word_count - 1);
        for (unsigned i = 1; i < word_count; ++i)
            if (words[i - 1] > words[i]) return 99;
    }
    return check(crc);
}
