/* SPDX-License-Identifier: Apache-2.0 */
/* atc: from a network's file to one that aclmdlLoadFromFile loads; tells what such a file holds. */
#include "options.h"
#include "show.h"
#include "singleop.h"

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
        data = leo_calloc((size_t)size + 1, 1); // ends as a text, if it is one
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

/* The number of a failed import's error. */
static const char *import_error(leo_status status)
{
    return status == LEO_ERR_PARSE ? "E13014" : status == LEO_ERR_INVALID_ARG ? "E10001" : "E10501";
}

static int write_model(const struct atc_options *options, const struct leo_model *model)
{
    char path[4096], text[ATC_ERROR];
    uint8_t *file = NULL;
    size_t bytes;
    snprintf(path, sizeof(path), "%s.om", options->output);
    const bool good =
        leo_model_write(model, &file, &bytes) == LEO_OK && write_file(path, file, bytes);
    leo_free(file);
    if (!good) {
        snprintf(text, sizeof(text), "E10001: the file %.400s cannot be written", path);
        return fail(text);
    }
    return 0;
}

static bool tells_info(const struct atc_options *options)
{
    return options->log &&
           (strcmp(options->log, "info") == 0 || strcmp(options->log, "debug") == 0);
}

// As the documents have it: graphs of TensorFlow are NHWC unless they are told to be NCHW.
static bool is_nhwc(const struct atc_options *options)
{
    return options->format ? strcmp(options->format, "NHWC") == 0
                           : strcmp(options->framework, "3") == 0;
}

// A model is called as its file, as the vendor's is.
static const char *model_name(const struct atc_options *options)
{
    const char *slash = strrchr(options->output, '/');
    return slash ? slash + 1 : options->output;
}

static int compile(const struct atc_options *options, const uint8_t *data, size_t bytes,
                   const char *aipp)
{
    char error[LEO_MODEL_ERROR], text[LEO_MODEL_ERROR + 64];
    struct leo_model model;
    const struct leo_import_options import = {
        .soc = options->soc,
        .name = model_name(options),
        .shapes = options->shapes.list,
        .shape_count = options->shapes.count,
        .keep_f32 = leo_import_keeps_f32(options->precision_mode),
        .half_inputs = options->input_fp16_nodes,
        .out_nodes = options->out_nodes,
        .output_type = options->output_type,
        .aipp = aipp,
        .without_fusions = options->switched_off,
        .nhwc = is_nhwc(options),
    };
    const leo_status status =
        options->gears.kind == LEO_MODEL_NO_GEARS
            ? leo_import_onnx(data, bytes, &import, &model, error)
            : leo_import_with_gears(data, bytes, &import, &options->gears, &model, error);
    if (status != LEO_OK) {
        snprintf(text, sizeof(text), "%s: %s", import_error(status), error);
        return fail(text);
    }
    const int code = write_model(options, &model);
    if (code == 0 && tells_info(options)) {
        show_model(&model, stdout);
    }
    leo_model_free(&model);
    return code;
}

static int no_file(const char *path)
{
    char text[ATC_ERROR];
    snprintf(text, sizeof(text), "E10410: the file %.400s does not exist or is empty", path);
    return fail(text);
}

static int compile_with_file(const struct atc_options *options, const uint8_t *data, size_t bytes)
{
    size_t length;
    uint8_t *aipp = options->insert_op_conf ? read_file(options->insert_op_conf, &length) : NULL;
    if (options->insert_op_conf && !aipp) {
        return no_file(options->insert_op_conf);
    }
    const int code = compile(options, data, bytes, (const char *)aipp);
    leo_free(aipp);
    return code;
}

static leo_status read_caffe(const struct atc_options *options, const uint8_t *data, size_t bytes,
                             uint8_t **onnx, size_t *onnx_bytes, char error[LEO_MODEL_ERROR])
{
    const struct leo_import_bytes net = {data, bytes};
    struct leo_import_bytes weights = {NULL, 0};
    uint8_t *file = read_file(options->weight, &weights.bytes);
    if (!file) {
        snprintf(error, LEO_MODEL_ERROR, "the file %.400s does not exist or is empty",
                 options->weight);
        return LEO_ERR_PARSE;
    }
    weights.data = file;
    const leo_status status =
        leo_caffe_to_onnx(&net, &weights, options->out_nodes, onnx, onnx_bytes, error);
    leo_free(file);
    return status;
}

static leo_status read_tensorflow(const struct atc_options *options, const uint8_t *data,
                                  size_t bytes, uint8_t **onnx, size_t *onnx_bytes,
                                  char error[LEO_MODEL_ERROR])
{
    const struct leo_import_options import = {.shapes = options->shapes.list,
                                              .shape_count = options->shapes.count,
                                              .out_nodes = options->out_nodes};
    return leo_tensorflow_to_onnx(data, bytes, &import, onnx, onnx_bytes, error);
}

/* Frameworks whose networks become ONNX files first; `number` is what their errors begin with. */
static const struct {
    const char *framework, *number;
    leo_status (*read)(const struct atc_options *, const uint8_t *, size_t, uint8_t **, size_t *,
                       char *);
} readers[] = {{"0", "E11001", read_caffe}, {"3", "E12001", read_tensorflow}};

static int compile_network(const struct atc_options *options, const uint8_t *data, size_t bytes)
{
    char error[LEO_MODEL_ERROR], text[LEO_MODEL_ERROR + 64];
    for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
        uint8_t *onnx = NULL;
        size_t onnx_bytes = 0;
        if (strcmp(readers[i].framework, options->framework) != 0) {
            continue;
        }
        const leo_status status = readers[i].read(options, data, bytes, &onnx, &onnx_bytes, error);
        if (status != LEO_OK) {
            snprintf(text, sizeof(text), "%s: %s",
                     status == LEO_ERR_PARSE ? readers[i].number : import_error(status), error);
            return fail(text);
        }
        const int code = compile_with_file(options, onnx, onnx_bytes);
        leo_free(onnx);
        return code;
    }
    return compile_with_file(options, data, bytes);
}

// The modes that read what was compiled.
static int show(const struct atc_options *options, const uint8_t *data, size_t bytes)
{
    char error[LEO_MODEL_ERROR], text[LEO_MODEL_ERROR + 64];
    struct leo_model model;
    if (leo_model_read(data, bytes, &model, error) != LEO_OK) {
        snprintf(text, sizeof(text), "E16001: %s", error);
        return fail(text);
    }
    bool good = true;
    if (atc_mode_is(options, "6")) {
        show_model(&model, stdout);
    } else {
        FILE *file = fopen(options->json, "w");
        good = file && show_json(&model, file);
        good = file && fclose(file) == 0 && good;
    }
    leo_model_free(&model);
    snprintf(text, sizeof(text), "E10001: the file %.400s cannot be written",
             options->json ? options->json : "");
    return good ? 0 : fail(text);
}

static int end(int code)
{
    if (code == 0) {
        printf("ATC run success, welcome to the next use.\n");
    }
    return code;
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
    if (options.singleop) {
        return end(atc_write_operators(&options, error) == 0 ? 0 : fail(error));
    }
    const bool compiles = !atc_mode_is(&options, "1") && !atc_mode_is(&options, "6");
    const char *path = compiles ? options.model : options.om;
    uint8_t *data = read_file(path, &bytes);
    if (!data) {
        return no_file(path);
    }
    const int code =
        compiles ? compile_network(&options, data, bytes) : show(&options, data, bytes);
    leo_free(data);
    return end(code);
}
