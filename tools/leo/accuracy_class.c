/* SPDX-License-Identifier: Apache-2.0 */
#include "accuracy_class.h"

#include <stddef.h>
#include <string.h>

enum { NAME_BYTES = 64 };

static const char *find(const char *name)
{
    const char *best = "other";
    size_t longest = 0;
    for (const struct accuracy_class_row *row = accuracy_class_rows; row->start; row++) {
        const size_t length = strlen(row->start);
        if (length > longest && strncmp(name, row->start, length) == 0) {
            longest = length;
            best = row->class;
        }
    }
    return best;
}

const char *accuracy_class(const char *workload)
{
    static const char *const whole[] = {"network", "collective", "copy"};
    char name[NAME_BYTES];
    size_t used = 0;
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
        if (strcmp(workload, whole[i]) == 0) {
            return find(workload);
        }
    }
    if (strncmp(workload, "op_", 3) != 0) {
        return "instructions";
    }
    workload += strncmp(workload, "op_inplace_", 11) == 0 ? 11 : 3;
    for (; *workload && used + 1 < sizeof(name); workload++) {
        if (*workload != '_') {
            name[used++] = *workload;
        }
    }
    name[used] = '\0';
    return find(name);
}
