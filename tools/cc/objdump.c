/* SPDX-License-Identifier: Apache-2.0 */
/* Disassembly: llvm-objdump for the scalar words, the instruction tables for the custom ones. */
#include <leo/cc.h>

#include "process.h"
#include <inttypes.h>
#include <leo/insn.h>
#include <string.h>

/* Writes one line of llvm-objdump. Custom words stand there as "   addr: 8 hex digits   <unknown>".
 */
static void write_line(char *line, FILE *out)
{
    uint64_t addr;
    uint32_t word;
    int words_end = 0;
    char text[256];
    if (strstr(line, "<unknown>") &&
        sscanf(line, " %" SCNx64 ": %8" SCNx32 " %n", &addr, &word, &words_end) == 2 &&
        words_end > 0 && leo_insn_disassemble(word, text, sizeof(text))) {
        char *operands = strchr(text, ' ');
        if (operands) {
            *operands = '\t'; /* as llvm-objdump sets its columns */
        }
        fprintf(out, "%.*s%s\n", words_end, line, text);
        return;
    }
    fputs(line, out);
}

leo_status leo_cc_objdump(const char *path, bool source, FILE *out, char *error, size_t error_bytes)
{
    struct cc_fail fail = {error, error_bytes};
    struct cc_args args = {0};
    FILE *from = NULL;
    pid_t pid = 0;
    (void)cc_fail(&fail, LEO_OK, "%s", "");
    cc_args_push(&args, "%s", cc_tool_command(CC_TOOL_OBJDUMP));
    cc_args_push(&args, "--disassemble");
    cc_args_push(&args, "--demangle");
    cc_args_push(&args, "--mattr=+m,+a,+f,+d,+zfh,+zfbfmin");
    if (source) {
        cc_args_push(&args, "--source");
        cc_args_push(&args, "--line-numbers");
    }
    cc_args_push(&args, "%s", path);
    leo_status status = cc_process_open(CC_TOOL_OBJDUMP, &args, &from, &pid, &fail);
    cc_args_finish(&args);
    if (status != LEO_OK) {
        return status;
    }
    char line[4096];
    for (;;) {
        if (fgets(line, sizeof(line), from)) {
            write_line(line, out);
        } else if (!cc_process_interrupted(from)) {
            break;
        }
    }
    return cc_process_close(from, pid);
}
