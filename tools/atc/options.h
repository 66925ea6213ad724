/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of atc: names, defaults and numbers of errors as the documents have them. */
#pragma once

#include <leo/model_import.h>

enum { ATC_ERROR = 600 };

struct atc_options {
    const char *model, *weight, *output, *soc, *framework, *input_shape, *precision_mode,
        *output_type, *input_fp16_nodes, *out_nodes, *mode, *om, *json, *log, *insert_op_conf,
        *batches, *images, *dims, *format, *fusion_switch_file, *singleop;
    char switched_off[1024]; /**< fusions by name, "a;b" */
    bool help;
    struct leo_import_shapes shapes;
    struct leo_import_gears gears;
};

/** Whether --mode tells one of the others than compiling. */
bool atc_mode_is(const struct atc_options *options, const char *mode);

/** 0, or -1 with the error's text ("E10001: ..."). */
int atc_options_parse(int argc, char **argv, struct atc_options *options, char error[ATC_ERROR]);
/** Reads --fusion_switch_file; the same. */
int atc_read_switches(struct atc_options *options, char error[ATC_ERROR]);
extern const char atc_help[];
