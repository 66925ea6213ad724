/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged files of models (.om). Sizes and checksums are made to fit, so that what is behind them
 * is reached; what is read must be written as the same bytes. */
#include "fuzz.h"

#include "model_file.h"
#include <leo/alloc.h>
#include <leo/model.h>
#include <stdlib.h>
#include <string.h>

static void mend_header(uint8_t *data, size_t bytes)
{
    const uint64_t all = bytes,
                   sum = model_file_checksum(data + MODEL_FILE_HEADER, bytes - MODEL_FILE_HEADER);
    memcpy(data + MODEL_FILE_BYTES_AT, &all, sizeof(all));
    memcpy(data + MODEL_FILE_SUM_AT, &sum, sizeof(sum));
}

// Bytes of the header that mean nothing are not kept.
static void check_written(const struct leo_model *model, const uint8_t *data, size_t bytes)
{
    uint8_t *written;
    size_t count;
    fuzz_check(leo_model_write(model, &written, &count) == LEO_OK, "it cannot be written");
    fuzz_check(count == bytes && memcmp(written + MODEL_FILE_HEADER, data + MODEL_FILE_HEADER,
                                        bytes - MODEL_FILE_HEADER) == 0,
               "it is written in another way than it was read");
    leo_free(written);
}

static void read_bytes(const uint8_t *data, size_t bytes)
{
    struct leo_model model;
    char error[LEO_MODEL_ERROR] = "";
    const leo_status status = leo_model_read(data, bytes, &model, error);
    fuzz_check(memchr(error, 0, sizeof(error)) != NULL, "message does not end");
    fuzz_check((status == LEO_OK) == (error[0] == '\0'), "status and reason differ");
    if (status == LEO_OK) {
        check_written(&model, data, bytes);
    }
    leo_model_free(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    uint8_t *copy = malloc(bytes ? bytes : 1);
    fuzz_check(copy != NULL, "out of memory");
    if (bytes) {
        memcpy(copy, data, bytes);
    }
    read_bytes(copy, bytes);
    if (bytes >= MODEL_FILE_HEADER) {
        mend_header(copy, bytes);
        read_bytes(copy, bytes);
    }
    free(copy);
    return 0;
}

/* A call with an argument of each kind. */
size_t fuzz_seed(unsigned index, uint8_t *data)
{
    struct leo_model_io in = {.name = "in", .dtype = LEO_DTYPE_F32, .rank = 2, .dim = {2, 3}},
                        out = {.name = "out", .dtype = LEO_DTYPE_F16, .rank = 1, .dim = {6}};
    struct leo_model_value values[] = {
        {.region = LEO_MODEL_INPUT,
         .dtype = LEO_DTYPE_F32,
         .rank = 2,
         .dim = {2, 3},
         .stride = {3, 1}},
        {.region = LEO_MODEL_OUTPUT, .dtype = LEO_DTYPE_F16, .rank = 1, .dim = {6}, .stride = {1}},
        {.region = LEO_MODEL_WEIGHT, .dtype = LEO_DTYPE_S8, .rank = 1, .dim = {16}, .stride = {1}},
        {.region = LEO_MODEL_WORK, .dtype = LEO_DTYPE_S64, .rank = 1, .dim = {4}, .stride = {2}},
    };
    uint32_t tensors[] = {0, 2, 3};
    int64_t ints[] = {1, -1};
    bool bools[] = {true, false, true};
    char text[] = "mean";
    struct leo_model_arg args[] = {
        {.kind = LEO_OP_TENSOR, .value = 1},
        {.kind = LEO_OP_NUMBER, .number = 0.5},
        {.kind = LEO_OP_NONE},
        {.kind = LEO_OP_DTYPE, .value = LEO_DTYPE_F16},
        {.kind = LEO_OP_TENSORS, .count = 3, .list = tensors},
        {.kind = LEO_OP_INTS, .count = 2, .list = ints},
        {.kind = LEO_OP_BOOLS, .count = 3, .list = bools},
        {.kind = LEO_OP_TEXT, .count = sizeof(text), .list = text},
    };
    struct leo_model_call call = {
        .op = "Add", .arg_count = sizeof(args) / sizeof(args[0]), .args = args};
    uint8_t weights[64] = {1, 2, 3}, *written;
    const struct leo_model model = {.soc = "Ascend910A",
                                    .input_count = 1,
                                    .output_count = 1,
                                    .value_count = sizeof(values) / sizeof(values[0]),
                                    .call_count = index,
                                    .inputs = &in,
                                    .outputs = &out,
                                    .values = values,
                                    .calls = &call,
                                    .work_bytes = 64,
                                    .weight_bytes = sizeof(weights),
                                    .weights = weights};
    size_t bytes;
    if (index > 1) {
        return 0;
    }
    fuzz_check(leo_model_write(&model, &written, &bytes) == LEO_OK && bytes <= FUZZ_MOST_BYTES,
               "the seed cannot be written");
    memcpy(data, written, bytes);
    leo_free(written);
    return bytes;
}
