/* SPDX-License-Identifier: Apache-2.0 */
/* As Dhrystone does: records, pointers to them, strings, small procedures with reference arguments.
 */
#include "../../insn/programs/start.h"

enum { ROUNDS = 400000, NAME = 24 };

struct record {
    struct record *link;
    int kind, choice, number;
    char name[NAME];
};

static struct record first, second;
static int table[50], square[50][50];
static int global, flag;

#define APART __attribute__((noinline))

static APART int compare(const char *left, const char *right)
{
    while (*left && *left == *right) {
        left++;
        right++;
    }
    return (uint8_t)*left - (uint8_t)*right;
}

static APART void copy_text(char *to, const char *from)
{
    while ((*to++ = *from++)) {
    }
}

static APART void choose(int choice, int *out)
{
    *out = choice;
    switch (choice) {
    case 0:
        *out = 1;
        break;
    case 1:
        *out = global > 100 ? 0 : 3;
        break;
    case 2:
        *out = 4;
        break;
    default:
        break;
    }
}

static APART void add(int left, int right, int *out)
{
    *out = left + 2 + right;
}

static APART void fill(int *row, int (*rows)[50], int left, int right)
{
    int at = left + 5;
    row[at] = right;
    row[at + 1] = row[at];
    row[at + 30 - left] = at;
    for (int i = at; i <= at + 1; i++) {
        rows[at][i] = at;
    }
    rows[at][at - 1]++;
    global = 5;
}

static APART void follow(struct record *record)
{
    struct record *next = record->link;
    *next = first;
    record->number = 5;
    next->number = record->number;
    next->link = record->link;
    if (next->kind == 0) {
        next->number = 6;
        choose(record->choice, &next->choice);
        add(next->number, 10, &next->number);
    } else {
        *record = *next;
    }
}

int program(void)
{
    first.link = &second;
    first.choice = 2;
    copy_text(first.name, "DHRYSTONE-LIKE, SOME");
    uint64_t sum = 0;
    char text[NAME];
    for (int round = 0; round < ROUNDS; round++) {
        copy_text(text, "DHRYSTONE-LIKE, 2ND");
        flag = compare(text, first.name) < 0;
        int number = 2, out = 0;
        while (number < 3) {
            out = 5 * number - 3;
            add(number, 3, &out);
            number++;
        }
        fill(table, square, number, out);
        follow(&first);
        sum += (uint64_t)(second.choice + second.number + flag + out * 7 / (number + round % 3));
    }
    emit(sum);
    emit_bytes(square, sizeof(square));
    return 0;
}
