// SPDX-License-Identifier: Apache-2.0
// Hart 1 ends the run with code 9. If other harts ran afterwards, they would print.
#include "harts.h"

int main(uint64_t hart) {
    static volatile int started, ended;
    if (hart == 1) {
        while (!started) {
        }
        tohost = 9 << 1 | 1;
        ended = 1;
        for (;;) {
        }
    }
    started = 1;
    while (!ended) {
    }
    print("never\n");
    return 5;
}
