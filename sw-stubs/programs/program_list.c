/* SPDX-License-Identifier: Apache-2.0 */
/* The loaded programs of a device. */
#include "program.h"

trn_program* trn_program_other(const trn_program* program, const trn_program* after) {
    trn_member* link = after ? after->loaded.next : program->device->programs;
    if (link == &program->loaded) link = link->next;
    return (trn_program*)link;
}

bool trn_programs_share_core(const trn_program* a, const trn_program* b) {
    return a->options.core < b->options.core + b->set.cores &&
           b->options.core < a->options.core + a->set.cores;
}
