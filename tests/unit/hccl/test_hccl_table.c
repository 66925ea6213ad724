/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of a rank table: bootstrap, faults of the file, ranks that do not come. */
#include "harness.h"
#include "ranks.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static char table_path[] = "/tmp/leo_rank_table_XXXXXX";

static void write_table(const char *text)
{
    FILE *file = fopen(table_path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT(fputs(text, file) >= 0);
    CU_ASSERT_EQUAL(fclose(file), 0);
}

/* One server with `ranks` devices, as the documents show it. */
static void write_good_table(uint32_t ranks)
{
    char text[2048];
    int at = snprintf(text, sizeof(text),
                      "{\"status\": \"completed\", \"version\": \"1.0\", \"server_count\": \"1\",\n"
                      " \"server_list\": [{\"server_id\": \"node_0\", \"device\": [");
    for (uint32_t i = 0; i < ranks; i++) {
        at += snprintf(text + at, sizeof(text) - (size_t)at,
                       "%s{\"device_id\": \"%u\", \"device_ip\": \"192.168.1.%u\", "
                       "\"rank_id\": \"%u\"}",
                       i ? ", " : "", i, i + 8, i);
    }
    snprintf(text + at, sizeof(text) - (size_t)at, "]}]}\n");
    write_table(text);
}

/* A port nobody has now, for all ranks to come. */
static void choose_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char text[16];
    CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&address, bytes), 0);
    CU_ASSERT_EQUAL_FATAL(getsockname(fd, (struct sockaddr *)&address, &bytes), 0);
    close(fd);
    snprintf(text, sizeof(text), "%u", ntohs(address.sin_port));
    setenv("HCCL_IF_BASE_PORT", text, 1);
}

static int add_up(struct rank *self)
{
    const float one = 1;
    float sum = 0;
    uint32_t ranks = 0;
    TRY(HcclGetRankSize(self->comm, &ranks));
    CHECK(ranks == self->ranks);
    TRY(aclrtMemcpy(self->a, 4, &one, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    TRY(HcclAllReduce(self->a, self->b, 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, self->comm,
                      self->stream));
    TRY(aclrtSynchronizeStream(self->stream));
    TRY(aclrtMemcpy(&sum, 4, self->b, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(sum == (float)self->ranks);
    return 0;
}

/* Rank 0 comes last the first time, first the second time. */
static int meet_twice(struct rank *self)
{
    const struct timespec late = {.tv_nsec = 200000000};
    for (uint32_t round = 0; round < 2; round++) {
        if ((self->rank == 0) == (round == 0)) {
            nanosleep(&late, NULL);
        }
        if (round == 0) {
            TRY(HcclCommInitClusterInfo(table_path, self->rank, &self->comm));
        } else {
            HcclCommConfig config;
            HcclCommConfigInit(&config);
            CHECK(HcclGetCommConfigCapability() >= HCCL_COMM_CONFIG_EXEC_TIMEOUT);
            TRY(HcclCommInitClusterInfoConfig(table_path, self->rank, &config, &self->comm));
        }
        int code = add_up(self);
        if (code) {
            return code;
        }
        if (round == 0) {
            TRY(HcclCommDestroy(self->comm));
            self->comm = NULL;
        }
    }
    return 0;
}

static void ranks_of_a_table_meet(void)
{
    choose_port();
    write_good_table(3);
    ranks_run_alone(3, meet_twice);
}

static int give_up(struct rank *self)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    CHECK(HcclCommInitClusterInfo(table_path, self->rank + 1, &self->comm) == HCCL_E_TIMEOUT);
    clock_gettime(CLOCK_MONOTONIC, &end);
    const char *text = aclGetRecentErrMsg();
    CHECK(text && strstr(text, "rank 0") && strstr(text, "127.0.0.1"));
    CHECK(end.tv_sec - begin.tv_sec < 20);
    return 0;
}

static void a_rank_0_that_never_comes_times_out(void)
{
    choose_port();
    write_good_table(3);
    setenv("HCCL_CONNECT_TIMEOUT", "1", 1);
    ranks_run_alone(2, give_up); // as ranks 1 and 2
    unsetenv("HCCL_CONNECT_TIMEOUT");
}

static int wait_for_others(struct rank *self)
{
    CHECK(HcclCommInitClusterInfo(table_path, 0, &self->comm) == HCCL_E_TIMEOUT);
    const char *text = aclGetRecentErrMsg();
    CHECK(text && strstr(text, " 1 2"));
    return 0;
}

static void ranks_that_never_come_are_named(void)
{
    choose_port();
    write_good_table(3);
    setenv("HCCL_CONNECT_TIMEOUT", "1", 1);
    ranks_run_alone(1, wait_for_others);
    unsetenv("HCCL_CONNECT_TIMEOUT");
}

static void faulty_tables_are_told(void)
{
    static const struct {
        const char *text, *word;
    } tables[] = {
        {"", "line"},
        {"{\"status\": \"initializing\"}", "completed"},
        {"{\"status\": \"completed\", \"group_list\": []}", "group_list"},
        {"{\"status\": \"completed\", \"server_count\": \"2\", \"server_list\": [{\"device\": "
         "[]}]}",
         "server_count"},
        {"{\"status\": \"completed\", \"server_list\": [{\"device\": []}]}", "0 ranks"},
        {"{\"status\": \"completed\", \"server_list\": [{\"server_id\": \"a\"}]}", "0 ranks"},
        {"{\"status\": \"completed\", \"server_list\": [{\"device\": [{\"device_id\": \"0\"}]}]}",
         "rank_id"},
        {"{\"status\": \"completed\", \"server_list\": [{\"device\": [{\"device_id\": \"0\", "
         "\"rank_id\": \"0\"}, {\"device_id\": \"1\", \"rank_id\": \"0\"}]}]}",
         "twice"},
        {"{\"status\": \"completed\", \"server_list\": [{\"device\": [{\"rank_id\": \"0\"}]}]}",
         "device_id"},
        {"{\"status\": \"completed\", \"server_list\": [{\"server_id\": \"a\", \"device\": "
         "[{\"device_id\": \"0\", \"rank_id\": \"0\"}]}, {\"server_id\": \"b\", \"device\": "
         "[{\"device_id\": \"0\", \"rank_id\": \"1\"}]}]}",
         "host_ip"},
    };
    HcclComm comm;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        write_table(tables[i].text);
        CU_ASSERT_EQUAL(HcclCommInitClusterInfo(table_path, 0, &comm), HCCL_E_PARA);
        const char *text = aclGetRecentErrMsg();
        CU_ASSERT(text && strstr(text, tables[i].word));
    }
    write_good_table(2);
    CU_ASSERT_EQUAL(HcclCommInitClusterInfo(table_path, 2, &comm), HCCL_E_PARA);
    CU_ASSERT_EQUAL(HcclCommInitClusterInfo(NULL, 0, &comm), HCCL_E_PTR);
    CU_ASSERT_EQUAL(HcclCommInitClusterInfo(table_path, 0, NULL), HCCL_E_PTR);
    CU_ASSERT_EQUAL(HcclCommInitClusterInfo("/no/such/table", 0, &comm), HCCL_E_OPEN_FILE_FAILURE);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"ranks_of_a_table_meet", ranks_of_a_table_meet},
        {"a_rank_0_that_never_comes_times_out", a_rank_0_that_never_comes_times_out},
        {"ranks_that_never_come_are_named", ranks_that_never_come_are_named},
        {"faulty_tables_are_told", faulty_tables_are_told},
    };
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 1);
    int fd = mkstemp(table_path);
    if (fd < 0) {
        perror(table_path);
        return 1;
    }
    close(fd);
    int code = leo_test_main("hccl_table", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    unlink(table_path);
    return code;
}
