// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4) of a message of 4 KiB; each digest is written into the next message.
#include "guest.h"

enum { message_size = 4096 };

static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint8_t message[message_size];
static uint32_t state[8];

static uint32_t rotated(uint32_t v, unsigned n) {
    return v >> n | v << (32 - n);
}

static uint32_t big_endian(const uint8_t* p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void compress(const uint8_t* block) {
    uint32_t w[64];
    for (unsigned i = 0; i < 16; ++i) w[i] = big_endian(block + 4 * i);
    for (unsigned i = 16; i < 64; ++i) {
        const uint32_t s0 = rotated(w[i - 15], 7) ^ rotated(w[i - 15], 18) ^ w[i - 15] >> 3;
        const uint32_t s1 = rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (unsigned i = 0; i < 64; ++i) {
        const uint32_t s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
        const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + k[i] + w[i];
        const uint32_t s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
        const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

int main(void) {
    for (unsigned i = 0; i < 8; ++i) state[i] = 0x6a09e667u + i * 0x9e3779b9u;
    for (unsigned round = 0; round < ROUNDS; ++round) {
        for (unsigned at = 0; at < message_size; at += 64) compress(message + at);
        for (unsigned i = 0; i < 32; ++i)
            message[(round * 32 + i) % message_size] ^= (uint8_t)(state[i / 4] >> i % 4 * 8);
    }
    return check(state[0]);
}
