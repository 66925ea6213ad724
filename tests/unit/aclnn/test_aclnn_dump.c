/* SPDX-License-Identifier: Apache-2.0 */
/* Dumps of operators' tensors: which files there are, and that they hold the tensors' values. */
#include "rig.h"

#include <acl/acl_dump.h>
#include <acl/acl_op_compiler.h>
#include <aclnnop/aclnn_add.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GOOD(call)         CU_ASSERT_EQUAL_FATAL((call), ACL_SUCCESS)
#define EXPECT(call, code) CU_ASSERT_EQUAL((call), (code))

static char folder[64];

static void write_config(const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/acl.json", folder);
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fprintf(file, "%s", text);
    fclose(file);
}

static aclError set_dump(const char *fields)
{
    char text[512], path[128];
    snprintf(text, sizeof(text), "{\"dump\":{\"dump_path\":\"%s\",%s}}", folder, fields);
    write_config(text);
    snprintf(path, sizeof(path), "%s/acl.json", folder);
    return aclmdlSetDump(path);
}

/* ---- files ---- */

struct part {
    bool is_output;
    uint64_t type, format, bytes, rank, dim[8];
    const uint8_t *data;
};

struct dump {
    uint8_t *bytes;
    size_t count, parts;
    char op[64];
    struct part part[8];
};

static uint64_t number(const uint8_t **at)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            return value;
        }
    }
}

static void read_shape(const uint8_t *at, const uint8_t *end, struct part *part)
{
    CU_ASSERT_EQUAL_FATAL(number(&at), 1 << 3 | 2);
    const uint64_t bytes = number(&at);
    CU_ASSERT_PTR_EQUAL(at + bytes, end);
    while (at < end) {
        part->dim[part->rank++] = number(&at);
    }
}

static void read_part(const uint8_t *at, const uint8_t *end, struct part *part)
{
    while (at < end) {
        const uint64_t key = number(&at), value = number(&at);
        if (key == (3 << 3 | 2)) {
            read_shape(at, at + value, part);
            at += value;
        } else if (key == 1 << 3) {
            part->type = value;
        } else if (key == 2 << 3) {
            part->format = value;
        } else {
            CU_ASSERT_EQUAL(key, (part->is_output ? 6u : 5u) << 3);
            part->bytes = value;
        }
    }
}

static void parse(struct dump *dump)
{
    uint64_t head;
    memcpy(&head, dump->bytes, 8);
    const uint8_t *at = dump->bytes + 8, *end = at + head, *data = end;
    CU_ASSERT_FATAL(8 + head <= dump->count);
    while (at < end) {
        const uint64_t key = number(&at), value = number(&at);
        if (key == (3 << 3 | 2) || key == (4 << 3 | 2)) {
            struct part *part = &dump->part[dump->parts++];
            part->is_output = key >> 3 == 3;
            read_part(at, at + value, part);
        } else if (key == (6 << 3 | 2)) {
            snprintf(dump->op, sizeof(dump->op), "%.*s", (int)value, (const char *)at);
        }
        at += key % 8 == 2 ? value : 0;
    }
    for (int outputs = 0; outputs < 2; outputs++) {
        for (size_t i = 0; i < dump->parts; i++) {
            if (dump->part[i].is_output == outputs) {
                dump->part[i].data = data;
                data += dump->part[i].bytes;
            }
        }
    }
    CU_ASSERT_PTR_EQUAL(data, dump->bytes + dump->count);
}

static void read_file(const char *path, struct dump *dump)
{
    struct stat state;
    FILE *file = fopen(path, "rb");
    CU_ASSERT_FATAL(file && fstat(fileno(file), &state) == 0);
    dump->count = (size_t)state.st_size;
    dump->bytes = malloc(dump->count);
    CU_ASSERT_EQUAL_FATAL(fread(dump->bytes, 1, dump->count, file), dump->count);
    fclose(file);
    parse(dump);
}

// The last entry by name of a folder that begins so, appended to the path; how many there are.
static int enter(char *path, size_t bytes, const char *begin)
{
    DIR *open = opendir(path);
    const struct dirent *entry;
    char found[256] = "";
    int count = 0;
    while (open && (entry = readdir(open)) != NULL) {
        if (entry->d_name[0] != '.' && strncmp(entry->d_name, begin, strlen(begin)) == 0) {
            if (strcmp(entry->d_name, found) > 0) {
                snprintf(found, sizeof(found), "%s", entry->d_name);
            }
            count++;
        }
    }
    if (open) {
        closedir(open);
    }
    strncat(path, "/", bytes - strlen(path) - 1);
    strncat(path, found, bytes - strlen(path) - 1);
    return count;
}

// The dump of an operator, which is then removed.
static int take_dump(const char *type, struct dump *dump)
{
    char path[512], begin[64];
    snprintf(path, sizeof(path), "%s", folder);
    snprintf(begin, sizeof(begin), "%s.", type);
    memset(dump, 0, sizeof(*dump));
    // A folder for each second in which dumps began.
    CU_ASSERT(enter(path, sizeof(path), "2") >= 1);
    CU_ASSERT_EQUAL(enter(path, sizeof(path), "0"), 1);
    const int count = enter(path, sizeof(path), begin);
    if (count) {
        read_file(path, dump);
        remove(path);
    }
    return count;
}

static void drop(struct dump *dump)
{
    free(dump->bytes);
    dump->bytes = NULL;
}

/* ---- calls ---- */

static void add(struct rig_tensor *a, struct rig_tensor *b, struct rig_tensor *out)
{
    uint64_t bytes;
    aclOpExecutor *executor;
    const float one = 1;
    aclScalar *alpha = aclCreateScalar((void *)(uintptr_t)&one, ACL_FLOAT);
    GOOD(aclnnAddGetWorkspaceSize(a->acl, b->acl, alpha, out->acl, &bytes, &executor));
    GOOD(aclnnAdd(NULL, bytes, executor, rig_stream()));
    aclDestroyScalar(alpha);
}

static bool holds(const struct part *part, const struct rig_tensor *tensor)
{
    const unsigned unit = rig_type_bytes(tensor->type);
    bool same = part->bytes == (uint64_t)rig_tensor_count(tensor) * unit;
    for (int64_t i = 0; same && i < rig_tensor_count(tensor); i++) {
        same = memcmp(part->data + i * unit, rig_tensor_at(tensor, i), unit) == 0;
    }
    return same;
}

struct operands {
    struct rig_tensor a, b, out;
};

static void begin(struct operands *o)
{
    const int64_t dim[] = {3, 40};
    o->a = rig_tensor_make(OP_TYPE_F32, 2, dim, RIG_PERMUTED, 1);
    o->b = rig_tensor_make(OP_TYPE_F32, 2, dim, RIG_SLICED, 2);
    o->out = rig_tensor_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 3);
    rig_tensor_put(&o->a);
    rig_tensor_put(&o->b);
    rig_tensor_put(&o->out);
    GOOD(aclmdlInitDump());
}

static void end(struct operands *o)
{
    GOOD(aclmdlFinalizeDump());
    rig_tensor_free(&o->a);
    rig_tensor_free(&o->b);
    rig_tensor_free(&o->out);
}

static void all_tensors_are_written_as_they_are(void)
{
    struct operands o;
    struct dump dump;
    begin(&o);
    GOOD(set_dump("\"dump_op_switch\":\"on\",\"dump_mode\":\"all\""));
    CU_ASSERT_STRING_EQUAL(acldumpGetPath(DATA_DUMP), folder);
    CU_ASSERT_PTR_NULL(acldumpGetPath(OVERFLOW_DUMP));
    add(&o.a, &o.b, &o.out);
    rig_tensor_take(&o.out);
    CU_ASSERT_EQUAL_FATAL(take_dump("Add", &dump), 1);
    CU_ASSERT_STRING_EQUAL(dump.op, "Add");
    CU_ASSERT_EQUAL_FATAL(dump.parts, 3);
    CU_ASSERT_TRUE(!dump.part[0].is_output && !dump.part[1].is_output && dump.part[2].is_output);
    CU_ASSERT_EQUAL(dump.part[0].type, 1);
    CU_ASSERT_EQUAL(dump.part[0].format, ACL_FORMAT_ND);
    CU_ASSERT_TRUE(dump.part[0].rank == 2 && dump.part[0].dim[0] == 3 && dump.part[0].dim[1] == 40);
    CU_ASSERT_TRUE(holds(&dump.part[0], &o.a));
    CU_ASSERT_TRUE(holds(&dump.part[1], &o.b));
    CU_ASSERT_TRUE(holds(&dump.part[2], &o.out));
    drop(&dump);
    GOOD(aclmdlFinalizeDump());
    add(&o.a, &o.b, &o.out);
    CU_ASSERT_EQUAL(take_dump("Add", &dump), 0); // it is off
    GOOD(aclmdlInitDump());
    end(&o);
}

static void inputs_are_kept_from_before_an_operator_in_place(void)
{
    struct operands o;
    struct dump dump;
    begin(&o);
    GOOD(set_dump("\"dump_op_switch\":\"on\",\"dump_mode\":\"input\""));
    add(&o.a, &o.b, &o.a); // o.a.host has the values of before
    CU_ASSERT_EQUAL_FATAL(take_dump("Add", &dump), 1);
    CU_ASSERT_EQUAL_FATAL(dump.parts, 2);
    CU_ASSERT_TRUE(holds(&dump.part[0], &o.a));
    drop(&dump);
    GOOD(set_dump("\"dump_op_switch\":\"on\"")); // outputs alone
    add(&o.a, &o.b, &o.out);
    rig_tensor_take(&o.out);
    CU_ASSERT_EQUAL_FATAL(take_dump("Add", &dump), 1);
    CU_ASSERT_EQUAL_FATAL(dump.parts, 1);
    CU_ASSERT_TRUE(dump.part[0].is_output && holds(&dump.part[0], &o.out));
    drop(&dump);
    end(&o);
}

static struct dump pieces;
static int piece_calls;

static int32_t take_piece(const acldumpChunk *chunk, int32_t length)
{
    CU_ASSERT_EQUAL((size_t)length, sizeof(*chunk) + chunk->bufLen);
    CU_ASSERT_EQUAL((size_t)chunk->offset, pieces.count);
    CU_ASSERT_EQUAL(chunk->flag, 7);
    CU_ASSERT_PTR_NOT_NULL(strstr(chunk->fileName, "/Add."));
    pieces.bytes = realloc(pieces.bytes, pieces.count + chunk->bufLen + 1);
    memcpy(pieces.bytes + pieces.count, chunk->dataBuf, chunk->bufLen);
    pieces.count += chunk->bufLen;
    piece_calls += chunk->isLastChunk != 0;
    return 0;
}

static void pieces_go_to_the_program(void)
{
    struct operands o;
    begin(&o);
    EXPECT(acldumpRegCallback(NULL, 0), ACL_ERROR_INVALID_PARAM);
    GOOD(acldumpRegCallback(take_piece, 7));
    GOOD(set_dump("\"dump_op_switch\":\"on\",\"dump_mode\":\"all\""));
    add(&o.a, &o.b, &o.out);
    rig_tensor_take(&o.out);
    CU_ASSERT_EQUAL(piece_calls, 1);
    parse(&pieces);
    CU_ASSERT_EQUAL_FATAL(pieces.parts, 3);
    CU_ASSERT_TRUE(holds(&pieces.part[1], &o.b));
    CU_ASSERT_TRUE(holds(&pieces.part[2], &o.out));
    drop(&pieces);
    acldumpUnregCallback();
    end(&o);
}

static void operators_by_name_are_written(void)
{
    struct operands o;
    struct dump dump;
    const int64_t dim[] = {120};
    aclTensorDesc *desc = aclCreateTensorDesc(ACL_FLOAT, 1, dim, ACL_FORMAT_ND);
    begin(&o);
    aclDataBuffer *in[2], *out[1];
    const aclTensorDesc *in_desc[] = {desc, desc}, *out_desc[] = {desc};
    void *memory;
    float ones[120], twos[120];
    GOOD(aclrtMalloc(&memory, sizeof(ones), ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < 120; i++) {
        ones[i] = 1;
        twos[i] = 2;
    }
    GOOD(aclrtMemcpy(memory, sizeof(ones), ones, sizeof(ones), ACL_MEMCPY_HOST_TO_DEVICE));
    in[0] = in[1] = out[0] = aclCreateDataBuffer(memory, sizeof(ones));
    GOOD(set_dump("\"dump_op_switch\":\"on\",\"dump_mode\":\"all\""));
    GOOD(aclopCompileAndExecute("Add", 2, in_desc, (const aclDataBuffer *const *)in, 1, out_desc,
                                out, NULL, ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, rig_stream()));
    CU_ASSERT_EQUAL_FATAL(take_dump("Add", &dump), 1);
    CU_ASSERT_EQUAL_FATAL(dump.parts, 3);
    CU_ASSERT_EQUAL(memcmp(dump.part[0].data, ones, sizeof(ones)), 0);
    CU_ASSERT_EQUAL(memcmp(dump.part[2].data, twos, sizeof(twos)), 0);
    drop(&dump);
    aclDestroyDataBuffer(in[0]);
    aclDestroyTensorDesc(desc);
    GOOD(aclrtFree(memory));
    end(&o);
}

static void wrong_configurations_are_refused(void)
{
    GOOD(aclmdlInitDump());
    write_config("{}");
    char path[128];
    snprintf(path, sizeof(path), "%s/acl.json", folder);
    EXPECT(aclmdlSetDump(path), ACL_ERROR_INVALID_DUMP_CONFIG);
    write_config("{\"dump\":{\"dump_op_switch\":\"on\"}}");
    EXPECT(aclmdlSetDump(path), ACL_ERROR_INVALID_DUMP_CONFIG);
    write_config("{\"dump\":{\"dump_op_switch\":\"on\",\"dump_path\":\"/no/such/folder\"}}");
    EXPECT(aclmdlSetDump(path), ACL_ERROR_INVALID_DUMP_CONFIG);
    EXPECT(set_dump("\"dump_op_switch\":\"maybe\""), ACL_ERROR_INVALID_DUMP_CONFIG);
    EXPECT(set_dump("\"dump_op_switch\":\"on\",\"dump_mode\":\"some\""),
           ACL_ERROR_INVALID_DUMP_CONFIG);
    EXPECT(set_dump("\"dump_scene\":\"nowhere\""), ACL_ERROR_INVALID_DUMP_CONFIG);
    EXPECT(set_dump("\"dump_scene\":\"aic_err_detail_dump\""), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(set_dump("\"dump_debug\":\"on\""), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(set_dump("\"dump_op_switch\":\"on\",\"dump_data\":\"stats\""),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    GOOD(set_dump("\"dump_scene\":\"lite_exception\""));
    EXPECT(set_dump("\"dump_list\":{}"), ACL_ERROR_INVALID_DUMP_CONFIG);
    EXPECT(set_dump("\"dump_list\":[{\"model_name\":7}]"), ACL_ERROR_INVALID_DUMP_CONFIG);
    EXPECT(set_dump("\"dump_list\":[{\"layer\":[1]}]"), ACL_ERROR_INVALID_DUMP_CONFIG);
    GOOD(set_dump("\"dump_op_switch\":\"off\",\"dump_list\":[]"));
    CU_ASSERT_PTR_NULL(acldumpGetPath(DATA_DUMP));
    GOOD(set_dump("\"dump_op_switch\":\"off\",\"dump_list\":[{\"model_name\":\"m\"}]"));
    CU_ASSERT_PTR_NOT_NULL(acldumpGetPath(DATA_DUMP));
    GOOD(aclmdlFinalizeDump());
    EXPECT(aclopStartDumpArgs(ACL_OP_DUMP_OP_AICORE_ARGS, folder),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclopStopDumpArgs(ACL_OP_DUMP_OP_AICORE_ARGS), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

static void a_program_saves_tensors_of_its_own(void)
{
    struct dump dump = {0};
    const int64_t dim[] = {2, 6};
    char path[512];
    struct rig_tensor tensor = rig_tensor_make(OP_TYPE_F16, 2, dim, RIG_DENSE, 9);
    rig_tensor_put(&tensor);
    int32_t host[3] = {1, -2, 3};
    int64_t where = (int64_t)(intptr_t)host;
    void *device;
    GOOD(aclGetRawTensorAddr(tensor.acl, &device));
    acldumpTensorInfo infos[2] = {{.type = ACL_DUMP_TENSOR_INPUT,
                                   .tensorSize = 24,
                                   .format = ACL_FORMAT_ND,
                                   .dataType = ACL_FLOAT16,
                                   .tensorAddr = device,
                                   .shapeNum = 2,
                                   .shape = {2, 6}},
                                  {.type = ACL_DUMP_TENSOR_OUTPUT,
                                   .tensorSize = 12,
                                   .format = ACL_FORMAT_ND,
                                   .dataType = ACL_INT32,
                                   .tensorAddr = &where,
                                   .addrType = ACL_DUMP_ADDR_PTR_PTR,
                                   .placement = ACL_DUMP_PLACEMENT_HOST,
                                   .shapeNum = 1,
                                   .shape = {3}}};
    setenv("ASCEND_WORK_PATH", folder, 1);
    EXPECT(acldumpGetExceptionInfoPath(path, 8), ACL_ERROR_RT_PARAM_INVALID);
    GOOD(acldumpGetExceptionInfoPath(path, sizeof(path)));
    CU_ASSERT_PTR_NOT_NULL(strstr(path, "/extra-info/data-dump/0"));
    GOOD(acldumpSaveExceptionInfo("mine", "tag", infos, 2));
    strcat(path, "/mine");
    read_file(path, &dump);
    CU_ASSERT_STRING_EQUAL(dump.op, "tag");
    CU_ASSERT_EQUAL_FATAL(dump.parts, 2);
    CU_ASSERT_EQUAL(dump.part[0].type, 2);
    CU_ASSERT_TRUE(holds(&dump.part[0], &tensor));
    CU_ASSERT_TRUE(dump.part[1].bytes == 12 && memcmp(dump.part[1].data, host, 12) == 0);
    drop(&dump);
    infos[1].tensorSize = 11;
    EXPECT(acldumpSaveExceptionInfo("mine", "tag", infos, 2), ACL_ERROR_INVALID_PARAM);
    EXPECT(acldumpSaveExceptionInfo("a/b", "tag", infos, 1), ACL_ERROR_INVALID_PARAM);
    rig_tensor_free(&tensor);
}

static const struct leo_test tests[] = {
    {"all_tensors_are_written_as_they_are", all_tensors_are_written_as_they_are},
    {"inputs_are_kept_from_before_an_operator_in_place",
     inputs_are_kept_from_before_an_operator_in_place},
    {"pieces_go_to_the_program", pieces_go_to_the_program},
    {"operators_by_name_are_written", operators_by_name_are_written},
    {"wrong_configurations_are_refused", wrong_configurations_are_refused},
    {"a_program_saves_tensors_of_its_own", a_program_saves_tensors_of_its_own},
};

int main(int argc, char **argv)
{
    char command[128];
    snprintf(folder, sizeof(folder), "/tmp/leo-dump-%d", (int)getpid());
    mkdir(folder, 0700);
    rig_open();
    int result = leo_test_main("aclnn_dump", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return system(command) ? 1 : result;
}
