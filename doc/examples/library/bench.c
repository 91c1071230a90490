/* SPDX-License-Identifier: Apache-2.0 */
/* bench BOARD: a test bench of a driver. It boots a board in this process, copies through the DMA
 * rings with the driver stub, takes an interrupt, and tries two variants from one state. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "library_transport.h"
#include "trn_driver.h"
#include "trnvp.h"

enum { SIZE = 64 << 10, PLACE = 16 << 20 };

static void check(int good, const char* what) {
    if (good) return;
    fprintf(stderr, "%s: %s\n", what, trnvp_last_error());
    exit(1);
}

/* Counts lines of the consoles. */
static void on_console(void* lines, const char* console, const char* text, size_t size) {
    (void)console;
    for (size_t i = 0; i < size; ++i) *(int*)lines += text[i] == '\n';
}

static void on_interrupt(void* count, uint32_t vector) {
    (void)vector;
    ++*(int*)count;
}

static void copy_both_ways(trn_device* chip) {
    trn_buffer out, back;
    check(trn_buffer_alloc(chip, SIZE, &out) == TRN_OK, "memory of the host");
    check(trn_buffer_alloc(chip, SIZE, &back) == TRN_OK, "memory of the host");
    for (int i = 0; i < SIZE; ++i) ((unsigned char*)out.memory.host)[i] = (unsigned char)(i * 7);
    const uint64_t inside = trn_hbm_address(chip, 0, PLACE);
    check(trn_copy(chip, 0, inside, trn_buffer_address(chip, &out, 0), SIZE) == TRN_OK, "to HBM");
    check(trn_copy(chip, 0, trn_buffer_address(chip, &back, 0), inside, SIZE) == TRN_OK, "back");
    puts(memcmp(out.memory.host, back.memory.host, SIZE) == 0 ? "copies: as sent" : "they differ");
    trn_buffer_free(chip, &out);
    trn_buffer_free(chip, &back);
}

/* In a copy of the process: writes `word` where the parent has 0. */
static int variant(trnvp_machine* machine, uint32_t word) {
    uint32_t before = 1, after = 0;
    const uint64_t address = 2 * PLACE;
    return trnvp_peek(machine, "chip0.hbm0.in", address, &before, 4) == TRNVP_OK && before == 0 &&
                   trnvp_poke(machine, "chip0.hbm0.in", address, &word, 4) == TRNVP_OK &&
                   trnvp_peek(machine, "chip0.hbm0.in", address, &after, 4) == TRNVP_OK
               ? (int)after
               : 1;
}

int main(int argc, char** argv) {
    int lines = 0, interrupts = 0;
    trnvp_machine *machine, *second;
    trnvp_function* function;
    trn_transport transport;

    check(argc == 2 && trnvp_abi() == TRNVP_ABI, "usage: bench BOARD");
    check(trnvp_create(argv[1], 0, NULL, &machine) == TRNVP_OK, "create");
    check(trnvp_on_console(machine, on_console, &lines) == TRNVP_OK, "console");
    check(trnvp_call(machine, "run", "{\"condition\": \"ready\"}", NULL) == TRNVP_OK, "boot");
    printf("ready at %.3f ms, after %d lines\n", (double)trnvp_time_ps(machine) * 1e-9, lines);

    check(trn_library_transport(machine, "chip0", &transport) == 0, "transport");
    trn_device* chip = trn_create(&transport, NULL);
    check(chip != NULL && trn_probe(chip) == TRN_OK && trn_reset_device(chip) == TRN_OK, "reset");
    copy_both_ways(chip);

    check(trnvp_find_function(machine, "chip0", &function) == TRNVP_OK, "function");
    check(trnvp_on_interrupt(function, 0, on_interrupt, &interrupts) == TRNVP_OK, "vector 0");
    check(trnvp_write_register(machine, "line.IER.TX_EMPTY", 1) == TRNVP_OK, "the line");
    check(trnvp_run_until(machine, trnvp_time_ps(machine) + 10000000) == TRNVP_OK, "10 us");
    printf("interrupts: %d\n", interrupts);

    for (uint32_t word = 7; word < 9; ++word) {
        int64_t child;
        int status = 0;
        fflush(stdout);
        check(trnvp_fork(machine, &child) == TRNVP_OK, "fork");
        if (child == 0) _exit(variant(machine, word));
        waitpid((pid_t)child, &status, 0);
        printf("variant %u: %d\n", word, WEXITSTATUS(status));
    }

    check(trnvp_create("trn2-chip", 0, NULL, &second) == TRNVP_UNAVAILABLE, "a second machine");
    puts(trnvp_last_error());
    trn_destroy(chip);
    check(trnvp_destroy(machine) == TRNVP_OK, "end");
    return 0;
}
