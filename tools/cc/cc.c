/* SPDX-License-Identifier: Apache-2.0 */
/* The way from source to kernel file: compile, link, read the kernels, write their notes, link
 * again. */
#include <leo/cc.h>

#include "hints.h"
#include "kernels.h"
#include "parts.h"
#include "process.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One run of the compiler. */
struct job {
    const struct leo_cc_opts *opts;
    struct cc_target target;
    char root[CC_PATH_BYTES];
    char temps[CC_PATH_BYTES]; /* prefix of temporary files */
    struct cc_fail fail;
};

/* Defaults the user may override. */
static const char *const default_flags[] = {"-O2", "-g", "-Wall", "-Wno-unknown-pragmas",
                                            "-Werror=return-type"};

/* What the core, the loader and the note need; see docs/toolchain.md. */
static const char *const fixed_flags[] = {
    "--target=riscv64-unknown-elf",
    "-march=rv64imafd_zfh_zfbfmin",
    "-mabi=lp64",
    "-mcmodel=medany",
    "-fPIE",
    "-fvisibility=hidden",
    "-fsigned-char",
    "-fno-delete-null-pointer-checks", /* UB offset 0 is an address */
    "-gdwarf-aranges",
    "-ffreestanding",
    "-fno-math-errno",
    "-ffp-contract=off",
    "-fno-stack-protector",
    "-fno-unwind-tables",
    "-fno-asynchronous-unwind-tables",
    /* What C lets through with a warning, and what would then compute something else. */
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
    "-Werror=pointer-sign", // int8_t and uint8_t are different types of an instruction
    "-Werror=constant-conversion",
};

/* Kernels in one file with code for the host: the language of the compiler that tells the two apart
 * (isa/device/include/bang/host.h). Host code is read, and nothing comes of it. */
static const char *const host_code_flags[] = {
    "-xcuda",
    "--cuda-host-only", // one pass, which is this one
    "-frtti",
    "-Wno-global-constructors", // of host code that is read
    "-nocudainc",
    "-nocudalib",
    "-Wno-unknown-cuda-version",
    "-fhosted",
    "-Xclang",
    "-fcuda-is-device",
    "-Xclang",
    "-fcuda-allow-variadic-functions",
    "-Xclang",
    "-aux-triple",
    "-Xclang",
};

static bool ends_with(const char *source, const char *end)
{
    const char *dot = strrchr(source, '.');
    return dot && strcmp(dot, end) == 0;
}

static bool is_bang(const char *source)
{
    return ends_with(source, ".mlu");
}

static bool is_cxx(const char *source)
{
    static const char *const ends[] = {".cpp", ".cc", ".cxx", ".cce"};
    bool is = is_bang(source);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        is = is || ends_with(source, ends[i]);
    }
    return is;
}

static void push_all(struct cc_args *args, const char *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cc_args_push(args, "%s", items[i]);
    }
}

static void push_language(struct cc_args *args, const char *source)
{
    if (is_cxx(source)) {
        cc_args_push(args, "-std=c++17");
        cc_args_push(args, "-fno-exceptions");
        cc_args_push(args, "-fno-rtti");
        cc_args_push(args, "-fno-threadsafe-statics");
        // The linker refuses what is left of them (leo.ld), and cannot tell which they are.
        cc_args_push(args, "-xc++"); // whatever the file's name ends with
        cc_args_push(args, "-Wglobal-constructors");
        cc_args_push(args, "-Wno-error=global-constructors");
        cc_args_push(args, "-Wno-c++11-narrowing"); // sizes in 32 bits, as the vendor's compiler
    } else {
        cc_args_push(args, "-std=gnu11");
    }
}

static void push_compiler(struct cc_args *args, const struct job *job, const char *source)
{
    const struct leo_cc_opts *opts = job->opts;
    cc_args_push(args, "%s", cc_tool_command(CC_TOOL_CLANG));
    push_language(args, source);
    push_all(args, default_flags, sizeof(default_flags) / sizeof(default_flags[0]));
    push_all(args, opts->flags, opts->flag_count);
    push_all(args, fixed_flags, sizeof(fixed_flags) / sizeof(fixed_flags[0]));
    cc_args_push(args, "-D__NPU_ARCH__=%u", job->target.arch);
    if (opts->source_count > 1) {
        cc_args_push(args, "-DLEO_SEVERAL_FILES"); // ascendc/types.h
    }
    // With code for the host, the host's own headers come first.
    const char *place = opts->host_triple ? "-idirafter" : "-isystem";
    if (opts->host_triple) {
        push_all(args, host_code_flags, sizeof(host_code_flags) / sizeof(host_code_flags[0]));
        cc_args_push(args, "%s", opts->host_triple);
    } else if (is_cxx(source)) {
        cc_args_push(args, "-isystem%s/include/cxx", job->root);
    }
    cc_args_push(args, "%s%s/include", place, job->root);
    cc_args_push(args, "%s%s/generated", place, job->root);
}

/* A second pass in which memories are address spaces (device.h): a pointer to one of them where
 * another is due is an error. What else that pass finds is C that is allowed here. */
static leo_status check_memories(const struct job *job, size_t index)
{
    struct cc_args args = {0};
    struct cc_message message = {0};
    push_compiler(&args, job, job->opts->sources[index]);
    cc_args_push(&args, "-DLEO_CHECK_SPACES");
    cc_args_push(&args, "-fsyntax-only");
    cc_args_push(&args, "-w");
    cc_args_push(&args, "-ferror-limit=0");
    cc_args_push(&args, "%s", job->opts->sources[index]);
    leo_status status = cc_process_run_lines(CC_TOOL_CLANG, &args, job->opts->verbose,
                                             cc_message_take, &message, &job->fail);
    cc_message_take(&message, NULL);
    cc_args_finish(&args);
    if (status != LEO_OK && status != LEO_ERR_PARSE) {
        return status;
    }
    return message.count ? LEO_ERR_PARSE : LEO_OK;
}

/* One run of the compiler to the object <temps>.<index>.<suffix>o; its lines go to `kept`. */
static leo_status compile_once(const struct job *job, size_t index, const struct cc_part *part,
                               struct cc_kept *kept)
{
    const struct leo_cc_opts *opts = job->opts;
    struct cc_args args = {0};
    push_compiler(&args, job, opts->sources[index]);
    for (size_t i = 0; part && i < sizeof(part->defines) / sizeof(part->defines[0]); i++) {
        cc_args_push(&args, "%s", part->defines[i]);
    }
    if (opts->depfile && index == 0) {
        cc_args_push(&args, "-MD");
        cc_args_push(&args, "-MT%s", opts->output);
        cc_args_push(&args, "-MF%s", opts->depfile);
    }
    cc_args_push(&args, "-c");
    cc_args_push(&args, "%s", opts->sources[index]);
    cc_args_push(&args, "-o%s.%zu%s%s.o", job->temps, index, part ? "." : "",
                 part ? part->suffix : "");
    leo_status status =
        cc_process_run_lines(CC_TOOL_CLANG, &args, opts->verbose, cc_kept_take, kept, &job->fail);
    cc_args_finish(&args);
    return status;
}

/* The same warnings come from both parts: they are reported once. */
static leo_status compile_parts(const struct job *job, size_t index)
{
    char prefix[CC_PATH_BYTES + 32];
    leo_status status = LEO_OK;
    struct cc_kept kept[CC_PART_COUNT] = {0};
    for (unsigned i = 0; i < CC_PART_COUNT && status == LEO_OK; i++) {
        status = compile_once(job, index, &cc_parts[i], &kept[i]);
        if (i == 0 || status != LEO_OK || !kept[0].text.data) {
            cc_kept_print(&kept[i]);
        }
    }
    for (unsigned i = 0; i < CC_PART_COUNT; i++) {
        cc_text_finish(&kept[i].text);
    }
    snprintf(prefix, sizeof(prefix), "%s.%zu", job->temps, index);
    if (status == LEO_OK) {
        status = cc_parts_join(prefix, fixed_flags, 3, job->opts->verbose, &job->fail);
    }
    cc_parts_remove(prefix);
    return status;
}

static leo_status compile(const struct job *job, size_t index)
{
    struct cc_kept kept = {0};
    leo_status status = compile_once(job, index, NULL, &kept);
    if (status == LEO_ERR_PARSE && kept.wants_parts) {
        cc_text_finish(&kept.text);
        return compile_parts(job, index);
    }
    cc_kept_print(&kept);
    cc_text_finish(&kept.text);
    return status == LEO_OK && !job->opts->host_triple ? check_memories(job, index) : status;
}

static leo_status link_image(const struct job *job, const char *output, bool with_notes)
{
    const struct leo_cc_opts *opts = job->opts;
    static const char *const flags[] = {
        "-shared", "-Bsymbolic",        "-ztext",          "-znorelro", "-zdefs", "-zrodynamic",
        "-X",      "--hash-style=sysv", "--fatal-warnings"};
    struct cc_args args = {0};
    cc_args_push(&args, "%s", cc_tool_command(CC_TOOL_LLD));
    push_all(&args, flags, sizeof(flags) / sizeof(flags[0]));
    cc_args_push(&args, "-T%s/leo.ld", job->root);
    for (size_t i = 0; i < opts->source_count; i++) {
        cc_args_push(&args, "%s.%zu.o", job->temps, i);
    }
    if (with_notes) {
        cc_args_push(&args, "%s.note.o", job->temps);
    }
    cc_args_push(&args, "%s/lib/libleo_device.a", job->root);
    if (with_notes && opts->strip) {
        cc_args_push(&args, "--strip-debug");
    }
    cc_args_push(&args, "-o%s", output);
    struct cc_last_line last = {0};
    leo_status status =
        cc_process_run_lines(CC_TOOL_LLD, &args, opts->verbose, cc_hint_print, &last, &job->fail);
    cc_args_finish(&args);
    return status;
}

/* ELF notes in assembly: a line of `notes` each. Symbols and types hold no character that needs
 * quoting. */
static leo_status write_notes(const struct job *job, const char *notes)
{
    char path[CC_PATH_BYTES + 16];
    snprintf(path, sizeof(path), "%s.note.s", job->temps);
    FILE *file = fopen(path, "w");
    if (!file) {
        return cc_fail(&job->fail, LEO_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    }
    fprintf(file, "    .section .note.leo,\"a\",@note\n");
    for (const char *line = notes, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        int bytes = (int)(end - line);
        fprintf(file,
                "    .p2align 2\n    .4byte 4, %d, 1\n    .asciz \"LEO\"\n    .ascii \"%.*s\"\n",
                bytes, bytes, line);
    }
    fprintf(file, "    .p2align 2\n");
    bool failed = ferror(file) != 0;
    failed |= fclose(file) != 0;
    return failed ? cc_fail(&job->fail, LEO_ERR_IO, "cannot write %s", path) : LEO_OK;
}

static leo_status assemble_notes(const struct job *job)
{
    struct cc_args args = {0};
    cc_args_push(&args, "%s", cc_tool_command(CC_TOOL_CLANG));
    push_all(&args, fixed_flags, 3);
    cc_args_push(&args, "-c");
    cc_args_push(&args, "%s.note.s", job->temps);
    cc_args_push(&args, "-o%s.note.o", job->temps);
    leo_status status = cc_process_run(CC_TOOL_CLANG, &args, job->opts->verbose, &job->fail);
    cc_args_finish(&args);
    return status;
}

static leo_status build(const struct job *job)
{
    char image[CC_PATH_BYTES + 16];
    struct cc_kernels kernels = {0};
    leo_status status = LEO_OK;
    for (size_t i = 0; i < job->opts->source_count && status == LEO_OK; i++) {
        status = compile(job, i);
    }
    snprintf(image, sizeof(image), "%s.image", job->temps);
    if (status == LEO_OK) {
        status = link_image(job, image, false);
    }
    if (status == LEO_OK) {
        status = cc_kernels_read(image, &job->target, &kernels, &job->fail);
    }
    if (status == LEO_OK) {
        status = write_notes(job, kernels.notes.data);
    }
    if (status == LEO_OK) {
        status = assemble_notes(job);
    }
    if (status == LEO_OK) {
        status = link_image(job, job->opts->output, true);
    }
    cc_kernels_finish(&kernels);
    return status;
}

static leo_status check_sources(const struct leo_cc_opts *opts, const struct cc_fail *fail)
{
    if (opts->source_count == 0 || !opts->output) {
        return cc_fail(fail, LEO_ERR_INVALID_ARG, "a source file and an output file are needed");
    }
    for (size_t i = 0; i < opts->source_count; i++) {
        const char *source = opts->sources[i];
        if (!is_cxx(source) && !ends_with(source, ".c")) {
            return cc_fail(fail, LEO_ERR_INVALID_ARG,
                           "%s is not a .c, .cpp, .cc, .cxx or .mlu file", source);
        }
        if (access(source, R_OK) != 0) {
            return cc_fail(fail, LEO_ERR_IO, "cannot read %s: %s", source, strerror(errno));
        }
    }
    return LEO_OK;
}

/* Kept temporaries stand beside the output; others in a folder of their own. */
static leo_status choose_temps(struct job *job, char folder[CC_PATH_BYTES])
{
    const char *base = getenv("TMPDIR");
    folder[0] = '\0';
    if (job->opts->save_temps) {
        snprintf(job->temps, sizeof(job->temps), "%s", job->opts->output);
        return LEO_OK;
    }
    snprintf(folder, CC_PATH_BYTES, "%s/leo-cc-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(folder)) {
        leo_status status = cc_fail(&job->fail, LEO_ERR_IO, "cannot make the folder %s: %s", folder,
                                    strerror(errno));
        folder[0] = '\0';
        return status;
    }
    if ((size_t)snprintf(job->temps, sizeof(job->temps), "%s/kernel", folder) >=
        sizeof(job->temps)) {
        return cc_fail(&job->fail, LEO_ERR_RANGE, "TMPDIR is too long");
    }
    return LEO_OK;
}

static void remove_temps(const struct job *job, const char *folder)
{
    static const char *const ends[] = {".image", ".note.s", ".note.o"};
    char path[CC_PATH_BYTES + 32];
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", job->temps, ends[i]);
        unlink(path);
    }
    for (size_t i = 0; i < job->opts->source_count; i++) {
        snprintf(path, sizeof(path), "%s.%zu.o", job->temps, i);
        unlink(path);
    }
    rmdir(folder);
}

leo_status leo_cc_compile(const struct leo_cc_opts *opts, char *error, size_t error_bytes)
{
    struct job job = {.opts = opts, .fail = {error, error_bytes}};
    char folder[CC_PATH_BYTES];
    (void)cc_fail(&job.fail, LEO_OK, "%s", "");
    if (!opts || opts->size != sizeof(*opts)) {
        return cc_fail(&job.fail, LEO_ERR_INVALID_ARG, "struct leo_cc_opts: size is not set");
    }
    leo_status status = check_sources(opts, &job.fail);
    if (status == LEO_OK) {
        status = cc_target_get(opts->soc, &job.target, &job.fail);
    }
    if (status == LEO_OK) {
        status = cc_target_root(opts->device_root, job.root, &job.fail);
    }
    for (size_t i = 0; i < opts->source_count && status == LEO_OK; i++) {
        job.target.tells_tasks |= is_bang(opts->sources[i]);
    }
    if (job.target.tells_tasks) {
        // Arrays of a cluster stand in the window of a buffer that such a card has nothing of, and
        // a line for tasks that meet (bang/cluster.h).
        job.target.bytes[CC_BT] = job.target.sram_bytes + 128;
    }
    if (status != LEO_OK) {
        return status;
    }
    // A signal that ends us is held back until the temporary files are gone.
    sigset_t ours, before;
    cc_signals_fill(&ours);
    pthread_sigmask(SIG_BLOCK, &ours, &before);
    status = choose_temps(&job, folder);
    if (status == LEO_OK) {
        status = build(&job);
    }
    if (folder[0]) {
        remove_temps(&job, folder);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}
