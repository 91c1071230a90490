// SPDX-License-Identifier: Apache-2.0
// Follows Dhrystone's mix: small procedures, records, strings, and few loops.
#include "guest.h"

enum { text_size = 32 };

struct record {
    struct record* next;
    int kind, number;
    char text[text_size];
};

static struct record first, second;
static int global_number, array[50], table[50][50];
static char letter;

static int __attribute__((noinline)) compare(const char* a, const char* b) {
    while (*a != 0 && *a == *b) {
        ++a;
        ++b;
    }
    return (unsigned char)*a - (unsigned char)*b;
}

static void __attribute__((noinline)) copy(char* to, const char* from) {
    while ((*to++ = *from++) != 0) {
    }
}

static void __attribute__((noinline)) add(int a, int b, int* sum) {
    *sum = a + b + 2;
}

static int __attribute__((noinline)) kind_of(char a, char b) {
    if (a != b) return 0;
    letter = a;
    return 1;
}

static void __attribute__((noinline)) fill(int* to, int (*rows)[50], int index, int value) {
    const int at = index + 5;
    to[at] = value;
    to[at + 1] = to[at];
    to[at + 30] = at;
    for (int i = at; i <= at + 1; ++i) rows[at][i] = at;
    rows[at][at - 1] += 1;
    rows[at + 20][at] = to[at];
    global_number = 5;
}

static void __attribute__((noinline)) follow(struct record* r) {
    struct record* const next = r->next;
    next->kind = r->kind;
    next->number = 5;
    copy(next->text, r->text);
    add(next->number, global_number, &next->number);
    r->number = next->number * 3 % 7;
}

static int __attribute__((noinline)) run(int round) {
    static const char one[] = "a procedure's first text", two[] = "a procedure's other text";
    int a = round & 7, b = 3, c = 0;
    copy(second.text, one);
    letter = 'A';
    while (a < b) {
        c = 5 * a - b;
        add(a, b, &c);
        ++a;
    }
    fill(array, table, a & 15, c);
    follow(&first);
    for (char l = 'A'; l <= 'C'; ++l)
        if (kind_of(l, 'B')) c += 1;
    b = b * a;
    a = b / (c | 1);
    b = 7 * (b - c) - a;
    return a + b + (compare(second.text, two) < 0) + first.number;
}

int main(void) {
    uint32_t sum = 0;
    first.next = &second;
    copy(first.text, "a text in a record");
    for (unsigned round = 0; round < ROUNDS; ++round) sum = sum * 31 + (uint32_t)run((int)round);
    return check(sum);
}
