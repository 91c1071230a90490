// SPDX-License-Identifier: Apache-2.0
// Interprets byte code of a stack machine with a switch: sieves and sums.
#include "guest.h"

enum code {
    push,
    load,
    store,
    add,
    sub,
    mul,
    less,
    jump,
    jump_if,
    dup,
    drop,
    get,
    set,
    xor_,
    shift,
    end
};

static int64_t variable[16], memory[256];

static int64_t execute(const int16_t* program) {
    int64_t stack[32], *top = stack;
    for (const int16_t* pc = program;;) {
        switch (*pc++) {
        case push:
            *++top = *pc++;
            break;
        case load:
            *++top = variable[*pc++];
            break;
        case store:
            variable[*pc++] = *top--;
            break;
        case add:
            top[-1] += top[0];
            --top;
            break;
        case sub:
            top[-1] -= top[0];
            --top;
            break;
        case mul:
            top[-1] *= top[0];
            --top;
            break;
        case less:
            top[-1] = top[-1] < top[0];
            --top;
            break;
        case jump:
            pc = program + *pc;
            break;
        case jump_if:
            pc = *top-- != 0 ? program + *pc : pc + 1;
            break;
        case dup:
            top[1] = top[0];
            ++top;
            break;
        case drop:
            --top;
            break;
        case get:
            *top = memory[*top & 255];
            break;
        case set:
            memory[top[0] & 255] = top[-1];
            top -= 2;
            break;
        case xor_:
            top[-1] ^= top[0];
            --top;
            break;
        case shift:
            *top = (int64_t)((uint64_t)*top >> 3);
            break;
        default:
            return variable[1];
        }
    }
}

// v0 counts to 1000; v1 accumulates a checksum of memory cells that change.
static const int16_t program[] = {
    push, 0, store, 0,                                       // 0
    load, 0, dup,   get,  load, 1,       add,  store, 1,     // 4: v1 += memory[v0], v0 stays
    load, 1, push,  17,   mul,  shift,   load, 0,     xor_,  // 13: value
    load, 0, set,                                            // 22: memory[v0] = value
    drop,                                                    // 25: v0
    load, 0, push,  1,    add,  store,   0,                  // 26: ++v0
    load, 0, push,  1000, less, jump_if, 4,                  // 33
    end};

int main(void) {
    uint64_t sum = 0;
    for (unsigned round = 0; round < ROUNDS; ++round) {
        variable[1] = round;
        sum = sum * 3 + (uint64_t)execute(program);
    }
    return check((uint32_t)sum);
}
