/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "hints.h"
#include "scratch.h"

#include <fcntl.h>
#include <gelf.h>
#include <leo/alloc.h>
#include <leo/cc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a compilation left: status, message, and the facts of the ELF that the loader relies on. */
struct outcome {
    leo_status status;
    char error[1024];
    char notes[2048]; /* descriptors, a line each */
    unsigned relocations, strange_relocations;
    bool loads_on_chip_memory, file_has_on_chip_memory, has_debug, writable_is_aligned;
};

static void read_notes(Elf *elf, Elf_Scn *section, struct outcome *out)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Nhdr note;
    size_t name = 0;
    size_t desc = 0;
    (void)elf;
    for (size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &desc)) > 0;) {
        CU_ASSERT_EQUAL(note.n_type, 1);
        CU_ASSERT_STRING_EQUAL((const char *)data->d_buf + name, "LEO");
        size_t used = strlen(out->notes);
        snprintf(out->notes + used, sizeof(out->notes) - used, "%.*s\n", (int)note.n_descsz,
                 (const char *)data->d_buf + desc);
    }
}

static void read_relocations(Elf_Scn *section, const GElf_Shdr *header, struct outcome *out)
{
    Elf_Data *data = elf_getdata(section, NULL);
    for (size_t i = 0; i < header->sh_size / header->sh_entsize; i++) {
        GElf_Rela rela;
        gelf_getrela(data, (int)i, &rela);
        out->relocations++;
        out->strange_relocations += GELF_R_TYPE(rela.r_info) != 3; /* R_RISCV_RELATIVE */
    }
}

static void read_elf(const char *path, struct outcome *out)
{
    int fd = open(path, O_RDONLY);
    CU_ASSERT_FATAL(fd >= 0);
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    size_t names = 0;
    size_t segments = 0;
    elf_getshdrstrndx(elf, &names);
    elf_getphdrnum(elf, &segments);
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        gelf_getshdr(section, &header);
        const char *name = elf_strptr(elf, names, header.sh_name);
        if (strcmp(name, ".note.leo") == 0) {
            read_notes(elf, section, out);
        } else if (header.sh_type == SHT_RELA) {
            read_relocations(section, &header, out);
        }
        out->has_debug |= strcmp(name, ".debug_info") == 0;
        out->file_has_on_chip_memory |=
            strncmp(name, ".npu.", 5) == 0 && header.sh_type != SHT_NOBITS;
    }
    for (size_t i = 0; i < segments; i++) {
        GElf_Phdr header;
        gelf_getphdr(elf, (int)i, &header);
        out->loads_on_chip_memory |=
            header.p_type == PT_LOAD && header.p_vaddr + header.p_memsz > 0x10000000;
        out->writable_is_aligned |=
            header.p_type == PT_LOAD && (header.p_flags & PF_W) && header.p_vaddr % 64 == 0;
    }
    elf_end(elf);
    close(fd);
}

static struct outcome compile_with(const char *file, const char *text, struct leo_cc_opts opts)
{
    struct outcome out = {0};
    struct scratch scratch;
    char source[256];
    char output[256];
    scratch_init(&scratch);
    scratch_write(&scratch, file, text);
    strcpy(source, scratch_path(&scratch, file));
    strcpy(output, scratch_path(&scratch, "kernel.elf"));
    const char *const sources[] = {source};
    opts.size = sizeof(opts);
    opts.sources = sources;
    opts.source_count = 1;
    opts.output = output;
    out.status = leo_cc_compile(&opts, out.error, sizeof(out.error));
    if (out.status == LEO_OK) {
        read_elf(output, &out);
    }
    scratch_finish(&scratch);
    return out;
}

static struct outcome compile(const char *file, const char *text, const char *soc)
{
    return compile_with(file, text, (struct leo_cc_opts){.soc = soc});
}

#define HEAD "#include <leo/device.h>\n"

static void note_lists_every_kind_of_parameter(void)
{
    struct outcome out = compile(
        "k.c",
        HEAD
        "struct tiling { uint32_t a, b; uint64_t c[4]; };\n"
        "struct pair { float x; short y; };\n"
        "struct __attribute__((packed)) tight { char c; int d; };\n"
        "struct wide { char c; _Alignas(16) int d[2]; };\n"
        "enum colour { RED, BLUE = -1 };\n"
        "__global__ __aicore__ void k(__gm__ half *x, const __gm__ float *restrict y, int32_t a,"
        " uint32_t b, int8_t c, uint8_t d, int16_t e, uint16_t f, bool g, char h, int64_t i,"
        " uint64_t j, half l, float m, double n, bfloat16_t o, struct tiling p, struct pair q,"
        " struct tight r, struct wide s, enum colour t, __int128 u, int unused)\n"
        "{ x[0] = (half)(y[0] + a + b + c + d + e + f + g + h + i + j + l + m + n + (float)o + p.b"
        " + q.y + r.d + s.d[0] + t + (int)u); }\n",
        "ascend910a");
    CU_ASSERT_EQUAL(out.status, LEO_OK);
    CU_ASSERT_STRING_EQUAL(
        out.notes,
        "k 1001 aicore x:p8a8 y:p8a8 a:s4a4 b:u4a4 c:s1a1 d:u1a1 e:s2a2 f:u2a2 g:u1a1 h:s1a1 "
        "i:s8a8 "
        "j:u8a8 l:f2a2 m:f4a4 n:f8a8 o:f2a2 p:b40a8 q:b8a4 r:b5a1 s:b32a16 t:s4a4 u:b16a16 "
        "unused:s4a4\n");
}

static void note_is_the_same_without_optimisation(void)
{
    const char *const flags[] = {"-O0"};
    struct outcome out = compile_with(
        "k.c", HEAD "__global__ __aicore__ void k(__gm__ half *x, int8_t n) { x[n] = 0; }\n",
        (struct leo_cc_opts){.flags = flags, .flag_count = 1});
    CU_ASSERT_STRING_EQUAL(out.notes, "k 1001 aicore x:p8a8 n:s1a1\n");
}

static void kernel_that_is_also_inlined_keeps_its_parameters(void)
{
    struct outcome out = compile(
        "k.c",
        HEAD "__global__ __aicore__ void a(__gm__ int *x, int n, int unused) { x[0] = n; }\n"
             "__global__ __aicore__ void b(__gm__ int *x) { a(x, 5, 6); }\n",
        "ascend910a");
    CU_ASSERT_STRING_EQUAL(out.notes,
                           "a 1001 aicore x:p8a8 n:s4a4 unused:s4a4\nb 1001 aicore x:p8a8\n");
}

static void templates_and_namespaces_are_kernels(void)
{
    struct outcome out = compile(
        "k.cpp",
        HEAD "namespace ns { struct P { float a[3]; };\n"
             "template <class T, int N> __global__ __vector__ void fill(__gm__ T *x, T v, P p)\n"
             "{ for (int i = 0; i < N; i++) { x[i] = v + p.a[0]; } }\n"
             "template void fill<float, 8>(float *, float, P); }\n"
             "extern \"C\" __global__ __cube__ void plain(const float &r) { (void)r; }\n",
        "ascend910b1");
    CU_ASSERT_EQUAL(out.status, LEO_OK);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(out.notes, "_ZN2ns4fillIfLi8EEEvPT_S1_NS_1PE 2201 vector x:p8a8 v:f4a4 p:b12a4\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(out.notes, "plain 2201 cube r:p8a8\n"));
}

static void unmarked_kernel_of_a_split_chip_is_what_its_code_needs(void)
{
    struct outcome out = compile(
        "k.c",
        HEAD "__global__ __aicore__ void v(void) { __asm__ volatile(\".insn r4 0x2b, 0, 0, a0, a1, "
             "a2, a3\"); }\n"
             "__global__ __aicore__ void c(void) { __asm__ volatile(\".insn r4 0x5b, 0, 0, a0, a1, "
             "a2, a3\"); }\n",
        "ascend910b1");
    CU_ASSERT_PTR_NOT_NULL(strstr(out.notes, "c 2201 cube\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(out.notes, "v 2201 vector\n"));
}

static void image_holds_no_on_chip_memory_and_only_relative_relocations(void)
{
    struct outcome out = compile("k.c",
                                 HEAD "__ubuf_array__ float ub[1000];\n"
                                      "__cbuf_array__ float l1[1000];\n"
                                      "static float *const table[] = {ub, l1};\n"
                                      "static int counter = 3;\n"
                                      "__global__ __aicore__ void k(__gm__ float *x, int i) { "
                                      "table[i][0] = x[0] + counter++; }\n",
                                 "ascend910a");
    CU_ASSERT_EQUAL(out.status, LEO_OK);
    CU_ASSERT_EQUAL(out.relocations, 2);
    CU_ASSERT_EQUAL(out.strange_relocations, 0);
    CU_ASSERT_FALSE(out.loads_on_chip_memory);
    CU_ASSERT_FALSE(out.file_has_on_chip_memory);
    CU_ASSERT_TRUE(out.writable_is_aligned);
    CU_ASSERT_TRUE(out.has_debug);
}

static void strip_drops_debug_information_and_keeps_the_note(void)
{
    struct outcome out =
        compile_with("k.c", HEAD "__global__ __aicore__ void k(int n) { (void)n; }\n",
                     (struct leo_cc_opts){.strip = true});
    CU_ASSERT_STRING_EQUAL(out.notes, "k 1001 aicore n:s4a4\n");
    CU_ASSERT_FALSE(out.has_debug);
}

static void device_library_is_linked(void)
{
    struct outcome out = compile(
        "k.c",
        HEAD
        "struct big { int x[64]; };\n"
        "__global__ __aicore__ void k(__gm__ struct big *a, __gm__ struct big *b) { *a = *b; }\n",
        "ascend910a");
    CU_ASSERT_EQUAL(out.status, LEO_OK);
}

static void c_library_is_linked_in_c_and_cpp(void)
{
    static const char body[] =
        "__global__ __aicore__ void k(__gm__ float *x, __gm__ double *y, uint32_t n)\n"
        "{ char t[8]; strcpy(t, \"ab\"); y[1] = pow(y[0], erf(y[1])) + atan2(y[2], fmod(y[3], "
        "y[4]));\n"
        "  x[0] = tanhf(x[1]) + floorf(x[2]) + sinf(x[3]) + fabsf(x[4]) + sqrtf(x[5]) + "
        "(float)strlen(t);\n"
        "  x[6] = (float)(uint64_t)(((unsigned __int128)n << 70) / (n + 1)) + (float)abs((int)n); "
        "}\n";
    char text[1024];
    snprintf(text, sizeof(text),
             "%s#include <math.h>\n#include <stdlib.h>\n#include <string.h>\n%s", HEAD, body);
    CU_ASSERT_EQUAL(compile("k.c", text, "ascend910a").status, LEO_OK);
    CU_ASSERT_EQUAL(compile("k.cpp", text, "ascend910b1").status, LEO_OK);
}

static void what_a_core_lacks_is_refused(void)
{
    static const struct {
        const char *file, *text;
    } cases[] = {
        {"k.c", HEAD "#include <stdlib.h>\n"
                     "__global__ __aicore__ void k(__gm__ int *x) { *x = *(int *)malloc(4); }\n"},
        {"k.cpp",
         HEAD "__global__ __aicore__ void k(__gm__ int *x) { int *p = new int[*x]; *x = p[1]; }\n"},
        {"k.cpp", HEAD "__global__ __aicore__ void k(__gm__ int *x) { if (*x) throw 1; }\n"},
        {"k.cpp", HEAD "struct A { int x; A() { x = (int)get_block_idx(); } }; A a;\n"
                       "__global__ __aicore__ void k(__gm__ int *x) { *x = a.x; }\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CU_ASSERT_EQUAL(compile(cases[i].file, cases[i].text, "ascend910a").status, LEO_ERR_PARSE);
    }
    CU_ASSERT_PTR_NULL(cc_hint_of("ld.lld: error: cannot open x.o"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(cc_hint_of("error: undefined symbol: operator new(unsigned long)"), "heap"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(cc_hint_of("error: undefined symbol: __cxa_throw"), "exceptions"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(cc_hint_of("error: undefined symbol: __ubsan_handle_add_overflow"), "array-bounds"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(cc_hint_of("ld.lld: error: relocation R_RISCV_TPREL_HI20 against v cannot be used"),
               "thread_local"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(cc_hint_of("error: undefined symbol: tgamma"), "kernel_library.md"));
}

static void arguments_that_would_do_something_else_are_refused(void)
{
    static const struct {
        const char *call;
        bool good;
    } cases[] = {
        {"vadd(a, a, a, 255, 1, 1, 1, 8, 8, 8);", true},
        {"vadd(a, a, a, 300, 1, 1, 1, 8, 8, 8);", false}, // would be 44
        {"copy_gm_to_ubuf(a, x, 0, 4095, 65535, 0, 0);", true},
        {"copy_gm_to_ubuf(a, x, 0, 4096, 1, 0, 0);", false}, // would be 0
        {"copy_gm_to_ubuf(a, x, 0, 1, 70000, 0, 0);", false},
        {"copy_gm_to_ubuf(a, x, 0, n, n, 0, 0);", true},
        {"set_flag(PIPE_V, PIPE_MTE3, EVENT_ID3);", true},
        {"set_flag(PIPE_V, PIPE_MTE3, EVENT_ID4);", false}, // this chip has four
        {"vadds(a, a, (half)1, 1, 1, 1, 256, 8);", false},
        {"vadd(a, a, a, -1, 1, 1, 1, 8, 8, 8);", false},
        {"vector_dup(a, (half)1, 1, 1, 1, 256, 8);", false}, // 16 bits in the name, 8 in the word
        {"img2col_cbuf_to_ub(a, (__cbuf__ half *)0, 0, 0, -32768, 32767, 0, 1, 1, 1, 1, 1, 1, 0, "
         "0, 1, CSIZE0);",
         true},
        {"img2col_cbuf_to_ub(a, (__cbuf__ half *)0, 0, 0, -32769, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1, "
         "CSIZE0);",
         false},
        {"set_flag(PIPE_V, PIPE_MTE3, 9);", false}, // would be 1
        {"wait_flag(PIPE_V, PIPE_MTE3, -1);", false},
        {"set_flag(PIPE_V, PIPE_MTE3, (event_t)(n & 1));", true},
        {"vconv_f322f16(a, b, 1, 1, 1, 4, 8);", true},
        {"vconv_f322f16(b, a, 1, 1, 1, 4, 8);", false},
        {"vadd(a, b, a, 1, 1, 1, 1, 8, 8, 8);", false},
        {"a[0] = *(half *)x;", true},
        {"half *p = b; a[0] = *p;", false},
        {"copy_gm_to_ubuf(x, a, 0, 1, 1, 0, 0);", false}, // memories swapped
        {"vadd(x, a, a, 1, 1, 1, 1, 8, 8, 8);", false},
        {"__gm__ half *p = a; x[0] = *p;", false},
        {"half *p = a; vadd(p, a, a, 1, 1, 1, 1, 8, 8, 8);", true}, // says nothing
        {"vadd((__ubuf__ half *)(uint64_t)512, a, a, 1, 1, 1, 1, 8, 8, 8);", true},
        {"half *p = n; a[0] = *p;", false},
        {"int8_t *p = (int8_t *)b; vconv_s82f16(a, p, 1, 1, 1, 8, 4);", true},
        {"uint8_t *p = (uint8_t *)b; vconv_s82f16(a, p, 1, 1, 1, 8, 4);", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[512];
        snprintf(text, sizeof(text),
                 "%s__ubuf_array__ half a[128]; __ubuf_array__ float b[128];\n"
                 "__global__ __aicore__ void k(__gm__ half *x, int n) { (void)x, (void)n; %s }\n",
                 HEAD, cases[i].call);
        leo_status expected = cases[i].good ? LEO_OK : LEO_ERR_PARSE;
        CU_ASSERT_EQUAL(compile("k.c", text, "ascend910a").status, expected);
    }
}

static void mistakes_are_told(void)
{
    static const struct {
        const char *text, *soc, *error;
        leo_status status;
    } cases[] = {
        {HEAD "__global__ __aicore__ void k(void) {}\n", "ascend91",
         "ascend910a, ascend910b, ascend910b1", LEO_ERR_NOT_FOUND},
        {HEAD "__global__ __aicore__ void k(void) {}\n", "./none.ini", "./none.ini", LEO_ERR_IO},
        {HEAD "void helper(void) {}\n", "ascend910a", "__global__ __aicore__ void add(",
         LEO_ERR_NOT_FOUND},
        {HEAD "__global__ __aicore__ int k(void) { return 1; }\n", "ascend910a",
         "kernel k returns a value", LEO_ERR_UNSUPPORTED},
        {HEAD "__global__ __aicore__ void k(int a, ...) { (void)a; }\n", "ascend910a",
         "kernel k takes '...'", LEO_ERR_UNSUPPORTED},
        {HEAD "__ubuf_array__ char big[300000];\n"
              "__global__ __aicore__ void k(int i) { ((volatile char *)big)[i] = 1; }\n",
         "ascend910a", "the arrays in UB take 300000 bytes; this chip's UB has 262144",
         LEO_ERR_RANGE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct outcome out = compile("k.c", cases[i].text, cases[i].soc);
        CU_ASSERT_EQUAL(out.status, cases[i].status);
        CU_ASSERT_PTR_NOT_NULL(strstr(out.error, cases[i].error));
    }
}

static void kernel_without_debug_information_is_refused(void)
{
    const char *const flags[] = {"-g0"};
    struct outcome out =
        compile_with("k.c", HEAD "__global__ __aicore__ void k(int n) { (void)n; }\n",
                     (struct leo_cc_opts){.flags = flags, .flag_count = 1});
    CU_ASSERT_EQUAL(out.status, LEO_ERR_UNSUPPORTED);
    CU_ASSERT_PTR_NOT_NULL(strstr(out.error, "debug information"));
}

/* Code behind such a macro is compiled for its kind of core (run by test_ascendc_calls.py), or the
 * flag says which part the file is. */
static void code_for_one_kind_of_core_compiles(void)
{
    static const char *const guards[] = {"#ifdef __DAV_CUBE__", "#if defined(__DAV_VEC__)",
                                         "#ifdef __DAV_C220_CUBE__", "#ifndef __DAV_C220_VEC__"};
    for (size_t i = 0; i < sizeof(guards) / sizeof(guards[0]); i++) {
        char text[512];
        snprintf(
            text, sizeof(text),
            "%s__global__ __mix__(1, 2) void k(__gm__ int *x)\n{\n%s\n    *x = 1;\n#endif\n}\n",
            HEAD, guards[i]);
        CU_ASSERT_EQUAL(compile("k.c", text, "ascend910b1").status, LEO_OK);
        static const char *const flags[] = {"-D__DAV_CUBE__"};
        struct leo_cc_opts opts = {.soc = "ascend910b1", .flags = flags, .flag_count = 1};
        CU_ASSERT_EQUAL(compile_with("k.c", text, opts).status, LEO_OK);
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(
        cc_hint_of("k.c:3:8: error: attempt to use a poisoned identifier"), "ASCEND_IS_AIC"));
}

static void missing_compiler_names_its_package(void)
{
    setenv("LEO_DEVICE_CC", "no-such-compiler", 1);
    struct outcome out = compile("k.c", "", "ascend910a");
    unsetenv("LEO_DEVICE_CC");
    CU_ASSERT_EQUAL(out.status, LEO_ERR_NOT_FOUND);
    CU_ASSERT_PTR_NOT_NULL(strstr(out.error, "apt-get install clang-19"));
    CU_ASSERT_PTR_NOT_NULL(strstr(out.error, "no-such-compiler"));
}

static void missing_device_files_name_the_variable(void)
{
    struct outcome out =
        compile_with("k.c", "", (struct leo_cc_opts){.device_root = "/no/such/folder"});
    CU_ASSERT_EQUAL(out.status, LEO_ERR_NOT_FOUND);
    CU_ASSERT_PTR_NOT_NULL(strstr(out.error, "LEO_DEVICE_ROOT"));
}

static void every_failing_allocation_is_reported(void)
{
    static const char text[] =
        HEAD "__global__ __aicore__ void k(__gm__ half *x, int n) { x[0] = (half)n; }\n";
    int failures = 0;
    for (int n = 1; n < 400; n += 23) {
        leo_alloc_fail_after(n);
        struct outcome out = compile("k.c", text, "ascend910a");
        leo_alloc_fail_after(0);
        if (out.status == LEO_OK) {
            CU_ASSERT(failures > 1);
            return;
        }
        CU_ASSERT_EQUAL(out.status, LEO_ERR_NO_MEMORY);
        failures++;
    }
    CU_FAIL("allocations without end");
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"note_lists_every_kind_of_parameter", note_lists_every_kind_of_parameter},
        {"note_is_the_same_without_optimisation", note_is_the_same_without_optimisation},
        {"kernel_that_is_also_inlined_keeps_its_parameters",
         kernel_that_is_also_inlined_keeps_its_parameters},
        {"templates_and_namespaces_are_kernels", templates_and_namespaces_are_kernels},
        {"unmarked_kernel_of_a_split_chip_is_what_its_code_needs",
         unmarked_kernel_of_a_split_chip_is_what_its_code_needs},
        {"image_holds_no_on_chip_memory_and_only_relative_relocations",
         image_holds_no_on_chip_memory_and_only_relative_relocations},
        {"strip_drops_debug_information_and_keeps_the_note",
         strip_drops_debug_information_and_keeps_the_note},
        {"device_library_is_linked", device_library_is_linked},
        {"c_library_is_linked_in_c_and_cpp", c_library_is_linked_in_c_and_cpp},
        {"what_a_core_lacks_is_refused", what_a_core_lacks_is_refused},
        {"arguments_that_would_do_something_else_are_refused",
         arguments_that_would_do_something_else_are_refused},
        {"mistakes_are_told", mistakes_are_told},
        {"kernel_without_debug_information_is_refused",
         kernel_without_debug_information_is_refused},
        {"code_for_one_kind_of_core_compiles", code_for_one_kind_of_core_compiles},
        {"missing_compiler_names_its_package", missing_compiler_names_its_package},
        {"missing_device_files_name_the_variable", missing_device_files_name_the_variable},
        {"every_failing_allocation_is_reported", every_failing_allocation_is_reported},
    };
    return leo_test_main("tools/cc", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
