/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes each synchronisation of correct kernels away, one at a time, and asks that the checker
 * tells it. Works on the words of any kernel file: the loader is wrapped (--wrap) and patches the
 * copy it loads.
 */
#include "rig.h"

#include <elf.h>
#include <leo/insn.h>
#include <leo/soc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SITES = 256, NOP = 0x13, EBREAK = 0x100073 };

/** A synchronisation in a kernel file. */
struct site {
    size_t offset; /**< in the file */
    enum leo_insn insn;
    uint16_t imm;
};

/** What happens to the next file that is loaded. */
struct mutation {
    int site;      /**< this one; -1 = none */
    bool group;    /**< with all flags between the same pipes */
    uint32_t word; /**< what stands there instead */
};

// One test at a time in a process: the loader has no room for an argument.
static struct mutation mutation;
static struct site sites[MAX_SITES];
static int site_count;

static void find_sites(const uint8_t *elf)
{
    Elf64_Ehdr head;
    memcpy(&head, elf, sizeof(head));
    site_count = 0;
    for (int i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr part;
        memcpy(&part, elf + head.e_phoff + (size_t)i * head.e_phentsize, sizeof(part));
        for (size_t at = 0; part.p_type == PT_LOAD && part.p_flags & PF_X && at < part.p_filesz;
             at += 4) {
            uint32_t word;
            struct leo_insn_word insn;
            memcpy(&word, elf + part.p_offset + at, sizeof(word));
            if (leo_insn_decode(word, &insn) &&
                (insn.insn == LEO_INSN_SET_FLAG || insn.insn == LEO_INSN_WAIT_FLAG ||
                 insn.insn == LEO_INSN_PIPE_BARRIER) &&
                site_count < MAX_SITES) {
                sites[site_count++] = (struct site){part.p_offset + at, insn.insn, insn.imm};
            }
        }
    }
}

static bool is_flag(const struct site *site)
{
    return site->insn != LEO_INSN_PIPE_BARRIER;
}

leo_status __real_leo_rt_module_load(struct leo_rt_device *device, const void *elf, size_t bytes,
                                     const char *name, struct leo_rt_module **module);
leo_status __wrap_leo_rt_module_load(struct leo_rt_device *device, const void *elf, size_t bytes,
                                     const char *name, struct leo_rt_module **module);

leo_status __wrap_leo_rt_module_load(struct leo_rt_device *device, const void *elf, size_t bytes,
                                     const char *name, struct leo_rt_module **module)
{
    uint8_t *copy = rig_alloc(1, bytes);
    memcpy(copy, elf, bytes);
    find_sites(copy);
    for (int i = 0; i < site_count && mutation.site >= 0; i++) {
        const struct site *chosen = &sites[mutation.site];
        const bool same = mutation.group && is_flag(&sites[i]) && is_flag(chosen) &&
                          (sites[i].imm & 0xff) == (chosen->imm & 0xff);
        if (i == mutation.site || same) {
            memcpy(copy + sites[i].offset, &mutation.word, sizeof(mutation.word));
        }
    }
    leo_status status = __real_leo_rt_module_load(device, copy, bytes, name, module);
    free(copy);
    return status;
}

static struct leo_op_arg t(const struct rig_buffer *buffer)
{
    return leo_op_arg_tensor(&buffer->tensor);
}

/* Each runs one operator; the buffers hold zeros, which the checker does not look at. */
static void run_product(struct rig *rig, uint32_t m, uint32_t n, uint32_t k, bool full)
{
    struct rig_buffer a = rig_put(rig, LEO_DTYPE_F16, m, k, NULL),
                      b = rig_put(rig, LEO_DTYPE_F16, k, n, NULL),
                      bias = rig_put(rig, LEO_DTYPE_F32, n, 0, NULL),
                      out = rig_put(rig, LEO_DTYPE_F32, m, n, NULL);
    CU_ASSERT_EQUAL(LEO_OP(rig->context, "FusedMatmul", t(&a), t(&b),
                           full ? t(&bias) : leo_op_arg_none(), leo_op_arg_none(),
                           leo_op_arg_text(full ? "relu" : ""), leo_op_arg_number(0), t(&out)),
                    LEO_OK);
}

static void run_matmul(struct rig *rig)
{
    run_product(rig, 300, 280, 400, true);
}

static void run_plain_matmul(struct rig *rig)
{
    run_product(rig, 300, 280, 100, false);
}

/* So few fractals that a chain of products needs its barrier. */
static void run_small_matmul(struct rig *rig)
{
    run_product(rig, 16, 16, 300, false);
}

enum { ROWS = 400, COLUMNS = 200 };

static void run_add(struct rig *rig)
{
    struct rig_buffer a = rig_put(rig, LEO_DTYPE_F32, ROWS, COLUMNS, NULL),
                      b = rig_put(rig, LEO_DTYPE_F32, ROWS, COLUMNS, NULL),
                      out = rig_put(rig, LEO_DTYPE_F32, ROWS, COLUMNS, NULL);
    CU_ASSERT_EQUAL(LEO_OP(rig->context, "Add", t(&a), t(&b), leo_op_arg_number(1), t(&out)),
                    LEO_OK);
}

/* A number a row: filled in again where the row before was read. */
static void run_number_of_rows(struct rig *rig, uint32_t rows, uint32_t columns)
{
    struct rig_buffer x = rig_put(rig, LEO_DTYPE_F32, rows, columns, NULL),
                      number = rig_put(rig, LEO_DTYPE_F32, rows, 1, NULL),
                      y = rig_put(rig, LEO_DTYPE_F32, rows, columns, NULL);
    CU_ASSERT_EQUAL(LEO_OP(rig->context, "Mul", t(&x), t(&number), t(&y)), LEO_OK);
}

static void run_number_a_row(struct rig *rig)
{
    run_number_of_rows(rig, ROWS, COLUMNS);
}

/* Rows longer than a tile. */
static void run_number_a_long_row(struct rig *rig)
{
    run_number_of_rows(rig, 6, 20000);
}

/* A chain of instructions, each of which reads what the one before wrote. */
static void run_chain(struct rig *rig)
{
    struct rig_buffer x = rig_put(rig, LEO_DTYPE_F16, ROWS, COLUMNS, NULL),
                      y = rig_put(rig, LEO_DTYPE_F16, ROWS, COLUMNS, NULL);
    CU_ASSERT_EQUAL(LEO_OP(rig->context, "Silu", t(&x), t(&y)), LEO_OK);
}

/* A number filled in once, read by all tiles; masks. */
static void run_threshold(struct rig *rig)
{
    struct rig_buffer x = rig_put(rig, LEO_DTYPE_F32, ROWS, COLUMNS, NULL),
                      y = rig_put(rig, LEO_DTYPE_F32, ROWS, COLUMNS, NULL);
    CU_ASSERT_EQUAL(
        LEO_OP(rig->context, "ThresholdBackward", t(&x), t(&x), leo_op_arg_number(0), t(&y)),
        LEO_OK);
}

/* What has 8 bits comes and goes by way of f16. */
static void run_compare(struct rig *rig)
{
    struct rig_buffer x = rig_put(rig, LEO_DTYPE_F32, ROWS, COLUMNS, NULL),
                      y = rig_put(rig, LEO_DTYPE_S32, ROWS, COLUMNS, NULL);
    const struct leo_op_tensor mask = leo_op_tensor(y.tensor.addr, LEO_DTYPE_B8, 2, y.tensor.dim);
    CU_ASSERT_EQUAL(
        LEO_OP(rig->context, "GtScalar", t(&x), leo_op_arg_number(0), leo_op_arg_tensor(&mask)),
        LEO_OK);
    CU_ASSERT_EQUAL(LEO_OP(rig->context, "Mul", t(&x), leo_op_arg_tensor(&mask), t(&x)), LEO_OK);
}

static void run_momentum(struct rig *rig)
{
    struct rig_buffer weight = rig_put(rig, LEO_DTYPE_F32, ROWS, COLUMNS, NULL),
                      velocity = rig_put(rig, LEO_DTYPE_F32, ROWS, COLUMNS, NULL),
                      grad = rig_put(rig, LEO_DTYPE_F32, ROWS, COLUMNS, NULL);
    CU_ASSERT_EQUAL(LEO_OP(rig->context, "Momentum", t(&weight), t(&velocity), t(&grad),
                           leo_op_arg_number(1), leo_op_arg_number(1), leo_op_arg_number(1)),
                    LEO_OK);
}

/** A kernel file, and uses of it that together need all of its synchronisation. */
static const struct subject {
    const char *name;
    void (*run[6])(struct rig *rig);
} subjects[] = {
    {"matmul", {run_matmul, run_plain_matmul, run_small_matmul}},
    {"tile",
     {run_add, run_number_a_row, run_number_a_long_row, run_chain, run_threshold, run_compare}},
    {"momentum", {run_momentum}},
};

/** Flags that other flags make superfluous. */
static const struct redundant {
    const char *name, *soc;
    enum leo_pipe src, dst;
} redundant[] = {
    // The bias is loaded before the matrices of its tile, and what uses it comes after them:
    // MTE2 -> MTE3 -> MTE1 -> M -> V orders it, and back.
    {"matmul", "ascend910a", LEO_PIPE_MTE2, LEO_PIPE_V},
    {"matmul", "ascend910a", LEO_PIPE_V, LEO_PIPE_MTE2},
};

enum verdict { SILENT, REPORTED };

static enum verdict judge_run(const struct subject *subject, unsigned run, const char *soc)
{
    struct rig rig;
    rig_init(&rig, soc, 1, NULL);
    subject->run[run](&rig);
    leo_status status = leo_rt_stream_synchronize(rig.stream, -1);
    CU_ASSERT(status == LEO_OK || status == LEO_ERR_FAULT);
    if (mutation.site < 0 && status != LEO_OK) {
        printf("%s, use %u: %s\n", subject->name, run, leo_rt_last_error());
    }
    rig_finish(&rig);
    return status == LEO_OK ? SILENT : REPORTED;
}

/* Whether any use tells it. */
static enum verdict judge(const struct subject *subject, const char *soc, int site, bool group,
                          uint32_t word)
{
    mutation = (struct mutation){site, group, word};
    for (unsigned run = 0; run < sizeof(subject->run) / sizeof(subject->run[0]); run++) {
        if (subject->run[run] && judge_run(subject, run, soc) == REPORTED) {
            return REPORTED;
        }
    }
    return SILENT;
}

static bool is_redundant(const struct subject *subject, const char *name, const struct site *site)
{
    for (size_t i = 0; i < sizeof(redundant) / sizeof(redundant[0]); i++) {
        const struct redundant *known = &redundant[i];
        if (is_flag(site) && strcmp(known->name, subject->name) == 0 &&
            strcmp(known->soc, name) == 0 && known->src == (site->imm & 15) &&
            known->dst == (site->imm >> 4 & 15)) {
            return true;
        }
    }
    return false;
}

static void describe(const struct site *site, char *text, size_t bytes)
{
    if (is_flag(site)) {
        snprintf(text, bytes, "%s(%s, %s)", leo_insn_name(site->insn),
                 leo_pipe_name((enum leo_pipe)(site->imm & 15)),
                 leo_pipe_name((enum leo_pipe)(site->imm >> 4 & 15)));
    } else {
        snprintf(text, bytes, "pipe_barrier(%s)", leo_pipe_name((enum leo_pipe)site->imm));
    }
}

/** A chip: its name, and the file of a small one of its kind. */
struct chip {
    const char *name;
    char file[32];
};

/* A removal nobody tells is allowed only where the instruction is not executed at all, or of flags
 * that are known to be superfluous. */
static void take_away(const struct subject *subject, const struct chip *chip, int site, bool group,
                      unsigned *silent)
{
    if (judge(subject, chip->file, site, group, NOP) == REPORTED ||
        judge(subject, chip->file, site, false, EBREAK) == SILENT ||
        (group && is_redundant(subject, chip->name, &sites[site]))) {
        return;
    }
    char text[64];
    describe(&sites[site], text, sizeof(text));
    printf("%s on %s: %s%s at 0x%zx is taken away and nothing is told\n", subject->name, chip->name,
           group ? "all of " : "", text, sites[site].offset);
    ++*silent;
}

/* A chip of one core (of each kind, or with two vector cores), so that a small problem uses its
 * buffers again and again. */
static void write_small_soc(const char *soc, const char *path)
{
    const char *text = leo_isa_soc_text(soc);
    FILE *file = fopen(path, "w");
    CU_ASSERT_FATAL(text != NULL && file != NULL);
    while (*text) {
        const size_t bytes = strcspn(text, "\n");
        if (strncmp(text, "cube_cores", 10) == 0) {
            fprintf(file, "cube_cores = 1");
        } else if (strncmp(text, "vector_cores", 12) == 0) {
            fprintf(file, "vector_cores = %d", strstr(text, "vector_cores = 0") == text ? 0 : 2);
        } else {
            fwrite(text, 1, bytes, file);
        }
        fputc('\n', file);
        text += bytes + (text[bytes] == '\n');
    }
    CU_ASSERT_EQUAL_FATAL(fclose(file), 0);
}

static unsigned take_all_away(const struct subject *subject, const struct chip *chip,
                              unsigned *silent)
{
    unsigned removals = 0;
    CU_ASSERT_EQUAL(judge(subject, chip->file, -1, false, 0), SILENT);
    CU_ASSERT(site_count > 0 && site_count < MAX_SITES);
    const int count = site_count;
    for (int site = 0; site < count; site++, removals++) {
        take_away(subject, chip, site, false, silent);
        if (sites[site].insn == LEO_INSN_SET_FLAG) {
            take_away(subject, chip, site, true, silent);
            removals++;
        }
    }
    return removals;
}

static void every_removal_is_told(void)
{
    unsigned removals = 0, silent = 0;
    CU_ASSERT_EQUAL_FATAL(setenv("LEO_CHECK", "all", 1), 0);
    for (size_t s = 0; s < sizeof(rig_socs) / sizeof(rig_socs[0]); s++) {
        struct chip chip = {rig_socs[s], "/tmp/leo_mutation_XXXXXX"};
        const int made = mkstemp(chip.file);
        CU_ASSERT_FATAL(made >= 0);
        close(made);
        write_small_soc(chip.name, chip.file);
        for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
            removals += take_all_away(&subjects[i], &chip, &silent);
        }
        remove(chip.file);
    }
    printf("%u removals, %u not told ", removals, silent);
    CU_ASSERT(removals > 300);
    CU_ASSERT_EQUAL(silent, 0);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"every_removal_is_told", every_removal_is_told},
    };
    return leo_test_main("mutation", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
