/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "pack.h"

#include "tape.h"
#include <errno.h>
#include <leo/alloc.h>
#include <leo/replay.h>
#include <unistd.h>
#include <zstd.h>

/* Bytes that are compressed together: they hold many launches, and what is launched again costs
 * next to nothing. */
enum { PART = 4 << 20, LEVEL = 1, WINDOW_LOG = 22 };

struct packer {
    int file;
    pid_t owner; /* a copy of it in a process that was forked writes nothing */
    ZSTD_CCtx *context;
    size_t room;
    uint8_t *out;      /* `room` bytes */
    char buffer[PART]; /* of the stream */
};

static bool write_all(int file, const uint8_t *data, size_t bytes)
{
    while (bytes) {
        const ssize_t written = write(file, data, bytes);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        data += written;
        bytes -= (size_t)written;
    }
    return true;
}

static ssize_t write_part(void *cookie, const char *data, size_t bytes)
{
    struct packer *packer = cookie;
    ZSTD_inBuffer in = {data, bytes, 0};
    size_t left;
    if (getpid() != packer->owner) {
        return (ssize_t)bytes;
    }
    do {
        ZSTD_outBuffer out = {packer->out, packer->room, 0};
        left = ZSTD_compressStream2(packer->context, &out, &in, ZSTD_e_end);
        if (ZSTD_isError(left) || !write_all(packer->file, packer->out, out.pos)) {
            return 0; // an error, of such a function
        }
    } while (left || in.pos < in.size);
    return (ssize_t)bytes;
}

static int end(void *cookie)
{
    struct packer *packer = cookie;
    const int result = close(packer->file);
    ZSTD_freeCCtx(packer->context);
    leo_free(packer->out);
    leo_free(packer);
    return result;
}

FILE *sim_tape_pack(int file)
{
    struct packer *packer = leo_calloc(1, sizeof(*packer));
    if (!packer) {
        close(file);
        return NULL;
    }
    packer->file = file;
    packer->owner = getpid();
    packer->context = ZSTD_createCCtx();
    packer->room = ZSTD_CStreamOutSize();
    packer->out = leo_calloc(1, packer->room);
    const cookie_io_functions_t functions = {.write = write_part, .close = end};
    FILE *stream = NULL;
    if (packer->context && packer->out) {
        (void)ZSTD_CCtx_setParameter(packer->context, ZSTD_c_compressionLevel, LEVEL);
        (void)ZSTD_CCtx_setParameter(packer->context, ZSTD_c_windowLog, WINDOW_LOG);
        (void)ZSTD_CCtx_setParameter(packer->context, ZSTD_c_checksumFlag, 1);
        stream = fopencookie(packer, "wb", functions);
    }
    if (!stream) {
        (void)end(packer);
        return NULL;
    }
    (void)setvbuf(stream, packer->buffer, _IOFBF, sizeof(packer->buffer));
    return stream;
}

/* ---- reading ---- */

struct unpacked {
    uint8_t *data;
    size_t bytes, room;
};

static leo_status make_room(struct unpacked *to)
{
    if (to->bytes < to->room) {
        return LEO_OK;
    }
    uint8_t *data = leo_realloc(to->data, 2 * to->room);
    if (!data) {
        return LEO_ERR_NO_MEMORY;
    }
    to->data = data;
    to->room *= 2;
    return LEO_OK;
}

// Every part must be whole.
static leo_status unpack(ZSTD_DCtx *context, const uint8_t *data, size_t bytes, struct unpacked *to)
{
    ZSTD_inBuffer in = {data, bytes, 0};
    size_t left = 0; // of a part; 0: it has ended
    while (in.pos < in.size || left) {
        leo_status status = make_room(to);
        if (status != LEO_OK) {
            return status;
        }
        ZSTD_outBuffer out = {to->data, to->room, to->bytes};
        const size_t from = in.pos;
        left = ZSTD_decompressStream(context, &out, &in);
        if (ZSTD_isError(left) || (out.pos == to->bytes && in.pos == from)) {
            return LEO_ERR_INVALID_ARG;
        }
        to->bytes = out.pos;
    }
    return LEO_OK;
}

/* The tape as the chunks of format.h. */
static leo_status unpack_file(const void *file, size_t bytes, struct leo_sim_tape *tape)
{
    const struct sim_tape_head *head = file;
    const size_t front = sizeof(*head) + head->soc_bytes;
    struct unpacked to = {.bytes = front, .room = front + 4 * bytes};
    to.data = leo_calloc(1, to.room);
    ZSTD_DCtx *context = ZSTD_createDCtx();
    leo_status status = to.data && context ? LEO_OK : LEO_ERR_NO_MEMORY;
    if (status == LEO_OK) {
        memcpy(to.data, file, front);
        status = unpack(context, (const uint8_t *)file + front, bytes - front, &to);
    }
    ZSTD_freeDCtx(context);
    tape->data = to.data;
    tape->bytes = to.bytes;
    return status;
}

leo_status leo_sim_tape_open(const void *file, size_t bytes, struct leo_sim_tape **tape_out)
{
    *tape_out = NULL;
    if (!sim_tape_has_head(file, bytes)) {
        return LEO_ERR_PARSE;
    }
    struct leo_sim_tape *tape = leo_calloc(1, sizeof(*tape));
    if (!tape) {
        return LEO_ERR_NO_MEMORY;
    }
    leo_status status = unpack_file(file, bytes, tape);
    if (status == LEO_OK) {
        status = sim_tape_read(tape->data, tape->bytes, &tape->file);
    }
    if (status != LEO_OK) {
        leo_sim_tape_close(tape);
        return status;
    }
    *tape_out = tape;
    return LEO_OK;
}

void leo_sim_tape_close(struct leo_sim_tape *tape)
{
    if (tape) {
        sim_tape_file_finish(&tape->file);
        leo_free(tape->data);
        leo_free(tape);
    }
}

const char *leo_sim_tape_soc(const struct leo_sim_tape *tape)
{
    return tape->file.head->soc;
}

const char *leo_sim_tape_soc_text(const struct leo_sim_tape *tape)
{
    return sim_tape_soc_text(tape->data);
}

uint64_t leo_sim_tape_looks(const struct leo_sim_tape *tape)
{
    uint64_t looks = 0;
    for (uint64_t i = 0; i < tape->file.entries; i++) {
        const struct sim_tape_done *done = tape->file.entry[i].done;
        looks += done && done->looked;
    }
    return looks;
}

void leo_sim_tape_links(const struct leo_sim_tape *tape,
                        void (*each)(void *user, const struct leo_link_note *note), void *user)
{
    for (uint64_t i = 0; i < tape->file.links; i++) {
        each(user, tape->file.link[i]);
    }
}
