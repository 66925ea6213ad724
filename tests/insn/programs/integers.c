/* SPDX-License-Identifier: Apache-2.0 */
/* CRC, division, 128-bit products, bit fields, a state machine over a jump table. */
#include "start.h"

static uint32_t crc_table[256];

static uint32_t update_crc(uint32_t crc, const uint8_t *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        crc = crc_table[(crc ^ data[i]) & 255] ^ crc >> 8;
    }
    return crc;
}

struct packed {
    unsigned a : 3;
    int b : 7;
    unsigned c : 13;
    int d : 9;
};

static unsigned step_machine(unsigned state, unsigned char c)
{
    switch (state) {
    case 0:
        return c < 64 ? 1 : c < 128 ? 2 : 3;
    case 1:
        return c & 1 ? 4 : 0;
    case 2:
        return c % 7;
    case 3:
        return c > 250 ? 0 : 5;
    case 4:
        return c / 50;
    case 5:
        return c & 2 ? 6 : 5;
    case 6:
        return (c ^ 0x55) & 7;
    default:
        return 0;
    }
}

int program(void)
{
    static uint8_t data[4096];
    uint64_t seed = 2463534242u;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) {
            c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
        }
        crc_table[i] = c;
    }
    for (size_t i = 0; i < sizeof(data); i++) {
        data[i] = (uint8_t)(next_random(&seed) >> 20);
    }
    emit(update_crc(~0u, data, sizeof(data)));
    unsigned state = 0, visits[8] = {0};
    for (size_t i = 0; i < sizeof(data); i++) {
        state = step_machine(state, data[i]);
        visits[state & 7]++;
    }
    emit_bytes(visits, sizeof(visits));
    for (int i = 0; i < 2000; i++) {
        uint64_t a = next_random(&seed) >> (i % 64), b = (next_random(&seed) >> (i * 7 % 64)) | 1;
        int64_t sa = (int64_t)a, sb = (int64_t)b;
        uint64_t wide =
            (uint64_t)((unsigned __int128)a * b >> 64) ^ (uint64_t)((__int128)sa * sb >> 64);
        emit(a / b ^ a % b ^ (uint64_t)(sa / sb) ^ (uint64_t)(sa % sb) ^ wide);
        emit((uint32_t)a / (uint32_t)b + (uint32_t)((int32_t)a % (int32_t)b));
        struct packed p = {(unsigned)a & 7, (int)(a >> 3) & 63, (unsigned)(b >> 5) & 8191,
                           (int)b & 255};
        p.b = (int8_t)(p.b * 3) >> 2;
        p.d -= p.b;
        emit_bytes(&p, sizeof(p));
        emit((uint64_t)(int8_t)a + (uint64_t)(int16_t)b + (uint8_t)(a >> 9) + (uint16_t)(b >> 3));
    }
    return 0;
}
