/* SPDX-License-Identifier: Apache-2.0 */
/* As CoreMark does: list search and sort, small integer matrices, a state machine over text, CRC of
 * it all. */
#include "../../insn/programs/start.h"

enum { NODES = 128, N = 12, TEXT = 400, ROUNDS = 1500 };

struct node {
    struct node *next;
    int16_t key, value;
};

static struct node nodes[NODES];
static int16_t a[N][N], b[N][N];
static int32_t c[N][N];
static uint8_t text[TEXT];

static uint16_t update_crc(uint16_t crc, uint16_t value)
{
    for (int k = 0; k < 16; k++) {
        int bit = (crc ^ value) & 1;
        value >>= 1;
        crc = (uint16_t)(crc >> 1);
        if (bit) {
            crc ^= 0xa001;
        }
    }
    return crc;
}

static uint16_t search(uint16_t crc)
{
    struct node *list = nodes;
    for (int key = 0; key < NODES; key += 7) {
        struct node *at = list;
        while (at && at->key != key) {
            at = at->next;
        }
        crc = update_crc(crc, (uint16_t)(at ? at->value : key));
    }
    return crc;
}

static uint16_t multiply(uint16_t crc, int16_t factor)
{
    int32_t sum = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            c[i][j] = 0;
            a[i][j] = (int16_t)(a[i][j] + factor);
            for (int k = 0; k < N; k++) {
                c[i][j] += a[i][k] * b[k][j];
            }
            sum += c[i][j] > 1000 ? 10 : c[i][j] & 15;
        }
    }
    return update_crc(crc, (uint16_t)sum);
}

enum state { START, SIGN, INTEGER, FLOAT, EXPONENT, SCIENTIFIC, INVALID, STATES };

static enum state step(enum state state, uint8_t t)
{
    int digit = t >= '0' && t <= '9';
    switch (state) {
    case START:
        return digit ? INTEGER : t == '+' || t == '-' ? SIGN : t == '.' ? FLOAT : INVALID;
    case SIGN:
        return digit ? INTEGER : t == '.' ? FLOAT : INVALID;
    case INTEGER:
        return digit ? INTEGER : t == '.' ? FLOAT : INVALID;
    case FLOAT:
        return digit ? FLOAT : t == 'e' ? EXPONENT : INVALID;
    case EXPONENT:
        return digit || t == '+' || t == '-' ? SCIENTIFIC : INVALID;
    case SCIENTIFIC:
        return digit ? SCIENTIFIC : INVALID;
    case INVALID:
    case STATES:
        break;
    }
    return INVALID;
}

static uint16_t scan(uint16_t crc)
{
    int counts[STATES] = {0};
    enum state state = START;
    for (int i = 0; i < TEXT; i++) {
        if (text[i] == ',') {
            counts[state]++;
            state = START;
        } else {
            state = step(state, text[i]);
        }
    }
    for (int i = 0; i < STATES; i++) {
        crc = update_crc(crc, (uint16_t)counts[i]);
    }
    return crc;
}

int program(void)
{
    static const char sample[] =
        "5012,1234,-874,+122,35.54,.1234,-110.7,5.500e+3,-.123e-2,T0.3e-1F,0x,12e,";
    uint64_t seed = 42;
    for (int i = 0; i < NODES; i++) {
        nodes[i].next = i + 1 < NODES ? &nodes[i + 1] : NULL;
        nodes[i].key = (int16_t)i;
        nodes[i].value = (int16_t)next_random(&seed);
    }
    for (int i = 0; i < N * N; i++) {
        a[i / N][i % N] = (int16_t)(next_random(&seed) & 255);
        b[i / N][i % N] = (int16_t)(next_random(&seed) & 255);
    }
    for (int i = 0; i < TEXT; i++) {
        text[i] = (uint8_t)sample[i % (int)(sizeof(sample) - 1)];
    }
    uint16_t crc = 0;
    for (int round = 0; round < ROUNDS; round++) {
        crc = search(crc);
        crc = multiply(crc, (int16_t)(round & 3));
        crc = scan(crc);
        text[round % TEXT] ^= (uint8_t)(crc & 1);
    }
    emit(crc);
    return 0;
}
