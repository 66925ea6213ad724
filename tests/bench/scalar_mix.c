/* SPDX-License-Identifier: Apache-2.0 */
/* Device program of scalar_speed: a mix of list walking, integer matrix product, state machine and
 * CRC. */
#include "../insn/programs/start.h"

enum { NODES = 512, N = 20, TEXT = 1024, ROUNDS = 1500 };

struct node {
    struct node *next;
    uint32_t value;
};

static struct node nodes[NODES];
static int32_t a[N][N], b[N][N], c[N][N];
static uint8_t text[TEXT];

static uint32_t walk_list(uint32_t key)
{
    uint32_t sum = 0;
    for (struct node *n = nodes; n; n = n->next) {
        if (n->value > key) {
            n->value -= key;
            sum += n->value;
        } else {
            n->value ^= key;
        }
    }
    return sum;
}

static void multiply(void)
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            int32_t sum = 0;
            for (int k = 0; k < N; k++) {
                sum += a[i][k] * b[k][j];
            }
            c[i][j] = sum;
            a[j][i] ^= sum & 7;
        }
    }
}

static unsigned scan_text(void)
{
    unsigned state = 0, words = 0;
    for (int i = 0; i < TEXT; i++) {
        uint8_t t = text[i];
        switch (state) {
        case 0:
            state = t < 100 ? 1 : 2;
            break;
        case 1:
            state = t & 1 ? 3 : 0;
            break;
        case 2:
            state = t > 200 ? 0 : 3;
            break;
        default:
            words++;
            state = t & 3;
        }
    }
    return words;
}

static uint16_t update_crc(uint16_t crc)
{
    for (int i = 0; i < TEXT / 8; i++) {
        crc ^= text[i];
        for (int k = 0; k < 8; k++) {
            crc = (uint16_t)(crc & 1 ? crc >> 1 ^ 0xa001 : crc >> 1);
        }
    }
    return crc;
}

int program(void)
{
    uint64_t seed = 42;
    for (int i = 0; i < NODES; i++) {
        nodes[i].next = i + 1 < NODES ? &nodes[i + 1] : NULL;
        nodes[i].value = (uint32_t)next_random(&seed);
    }
    for (int i = 0; i < N * N; i++) {
        a[i / N][i % N] = (int32_t)(next_random(&seed) & 1023);
        b[i / N][i % N] = (int32_t)(next_random(&seed) & 1023);
    }
    for (int i = 0; i < TEXT; i++) {
        text[i] = (uint8_t)next_random(&seed);
    }
    uint64_t sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        sum += walk_list((uint32_t)round);
        multiply();
        sum += scan_text();
        text[round % TEXT] ^= (uint8_t)update_crc((uint16_t)sum);
    }
    emit(sum);
    emit((uint64_t)(uint32_t)c[3][4]);
    return 0;
}
