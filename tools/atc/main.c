/* SPDX-License-Identifier: Apache-2.0 */
/* atc: from a network's file to one that aclmdlLoadFromFile loads. */
#include "options.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_ERROR = 255 };

static int fail(const char *text)
{
    printf("ATC run failed, Please check the detail log, Try 'atc --help' for more information\n"
           "%s\n",
           text);
    return EXIT_ERROR;
}

static uint8_t *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size > 0 && fseek(file, 0, SEEK_SET) == 0) {
        data = leo_calloc((size_t)size, 1);
        *bytes = (size_t)size;
        if (data && fread(data, 1, *bytes, file) != *bytes) {
            leo_free(data);
            data = NULL;
        }
    }
    if (file) {
        (void)fclose(file);
    }
    return data;
}

static bool write_file(const char *path, const uint8_t *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(data, 1, bytes, file) == bytes;
    if (file) {
        good = fclose(file) == 0 && good;
    }
    if (!good && file) {
        (void)remove(path);
    }
    return good;
}

static int compile(const struct atc_options *options, const uint8_t *data, size_t bytes)
{
    char error[LEO_MODEL_ERROR], text[LEO_MODEL_ERROR + 64], path[4096];
    struct leo_model model;
    uint8_t *file = NULL;
    size_t file_bytes;
    const struct leo_import_options import = {
        .soc = options->soc,
        .shapes = options->shapes.list,
        .shape_count = options->shapes.count,
        .keep_f32 = leo_import_keeps_f32(options->precision_mode),
        .half_inputs = options->input_fp16_nodes != NULL,
        .half_outputs = options->output_type && strcmp(options->output_type, "FP16") == 0,
    };
    leo_status status = leo_import_onnx(data, bytes, &import, &model, error);
    if (status != LEO_OK) {
        snprintf(text, sizeof(text), "%s: %s", status == LEO_ERR_PARSE ? "E13014" : "E10501",
                 error);
        return fail(text);
    }
    snprintf(path, sizeof(path), "%s.om", options->output);
    status = leo_model_write(&model, &file, &file_bytes);
    leo_model_free(&model);
    const bool good = status == LEO_OK && write_file(path, file, file_bytes);
    leo_free(file);
    if (!good) {
        snprintf(text, sizeof(text), "E10001: the file %.400s cannot be written", path);
        return fail(text);
    }
    printf("ATC run success, welcome to the next use.\n");
    return 0;
}

int main(int argc, char **argv)
{
    struct atc_options options;
    char error[ATC_ERROR];
    size_t bytes;
    const int parsed = atc_options_parse(argc, argv, &options, error);
    if (parsed == 0 && options.help) {
        fputs(atc_help, stdout);
        return 0;
    }
    printf("ATC start working now, please wait for a moment.\n...\n");
    if (parsed != 0) {
        return fail(error);
    }
    uint8_t *data = read_file(options.model, &bytes);
    if (!data) {
        snprintf(error, sizeof(error), "E10410: the file %.400s does not exist or is empty",
                 options.model);
        return fail(error);
    }
    const int code = compile(&options, data, bytes);
    leo_free(data);
    return code;
}
