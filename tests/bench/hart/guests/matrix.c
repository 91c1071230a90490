// SPDX-License-Identifier: Apache-2.0
// Products of matrices of 64 x 64 integers.
#include "guest.h"

enum { n = 64 };

static int32_t a[n][n], b[n][n], c[n][n];

int main(void) {
    uint32_t seed = 7;
    for (unsigned i = 0; i < n; ++i)
        for (unsigned j = 0; j < n; ++j) {
            seed = seed * 1664525 + 1013904223;
            a[i][j] = (int32_t)(seed >> 20);
            b[i][j] = (int32_t)(seed >> 24);
        }
    for (unsigned round = 0; round < ROUNDS; ++round) {
        for (unsigned i = 0; i < n; ++i)
            for (unsigned j = 0; j < n; ++j) {
                int32_t sum = 0;
                for (unsigned k = 0; k < n; ++k) sum += a[i][k] * b[k][j];
                c[i][j] = sum;
            }
        a[round % n][1] ^= c[1][round % n];
    }
    return check((uint32_t)c[3][5]);
}
