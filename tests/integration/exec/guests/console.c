// SPDX-License-Identifier: Apache-2.0
// Prints by both mechanisms of the host interface, writes a signature and exits with 7.
#include <stdint.h>

extern volatile uint64_t tohost, fromhost;

volatile uint32_t signature[3] __attribute__((aligned(16))) = {0, 0x55667788, 0x99aabbcc};
__asm__(
    ".globl begin_signature, end_signature\n"
    ".set begin_signature, signature\n"
    ".set end_signature, signature + 12\n");

static void put(char c) {
    tohost = (uint64_t)1 << 56 | (uint64_t)1 << 48 | (uint8_t)c;
}

int main(void) {
    static const char text[] = "written\n";
    static volatile uint64_t call[8] __attribute__((aligned(64)));
    signature[0] = 0x11223344;
    put('h');
    put('i');
    put('\n');
    call[0] = 64;
    call[1] = 1;
    call[2] = (uint64_t)text;
    call[3] = sizeof text - 1;
    tohost = (uint64_t)call;
    while (fromhost == 0) {
    }
    fromhost = 0;
    return call[0] == sizeof text - 1 ? 7 : 1;
}
