/* SPDX-License-Identifier: Apache-2.0 */
/* The workspace that is asked for when a model is loaded is what its calls need when it runs. */
#include "rig.h"

#include "build.h"
#include "model_run.h"

#include <leo/alloc.h>

enum { BATCH = 4, HEADS = 12, ROWS = 384, WIDTH = 64 };

static void set_io(struct leo_model_io *io, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        io[i] = (struct leo_model_io){
            .name = "x", .dtype = LEO_DTYPE_F16, .rank = 4, .dim = {BATCH, HEADS, ROWS, WIDTH}};
    }
}

// Attention whose keys are given with their features apart, so that the operator copies them.
static void build_attention(struct model_build *build)
{
    static const int64_t dim[] = {BATCH, HEADS, ROWS, WIDTH},
                         apart[] = {HEADS * ROWS * WIDTH, ROWS * WIDTH, 1, ROWS};
    build->model.input_count = 3;
    build->model.output_count = 1;
    build->model.inputs = leo_calloc(3, sizeof(*build->model.inputs));
    build->model.outputs = leo_calloc(1, sizeof(*build->model.outputs));
    CU_ASSERT_FATAL(build->model.inputs && build->model.outputs);
    set_io(build->model.inputs, 3);
    set_io(build->model.outputs, 1);
    uint32_t value[4];
    for (uint32_t i = 0; i < 4; i++) {
        value[i] = model_build_io(build, i < 3 ? LEO_MODEL_INPUT : LEO_MODEL_OUTPUT, i % 3);
    }
    const uint32_t key = model_build_view(build, value[1], 4, dim, apart, 0);
    const struct leo_model_arg none = model_build_none(), heads = model_build_number(HEADS),
                               all = model_build_number(INT32_MAX);
    MODEL_BUILD_CALL(build, "PromptFlashAttention", model_build_tensor(value[0]),
                     model_build_tensor(key), model_build_tensor(value[2]), none, none, none, heads,
                     model_build_number(0.125), all, all, model_build_text("BNSD"), heads,
                     model_build_tensor(value[3]));
    model_build_finish(build);
    CU_ASSERT_FALSE_FATAL(build->failed);
}

static void workspace_of_a_model_is_enough_for_its_run(void)
{
    enum { BYTES = BATCH * HEADS * ROWS * WIDTH * 2 };
    struct model_build build = {0};
    const struct leo_model_call *failed;
    uint64_t bytes = 0, workspace = 0, places[4];
    struct rig rig;
    rig_init(&rig, "ascend910b1", 0, NULL);
    build_attention(&build);
    CU_ASSERT_EQUAL(model_workspace(&build.model, rig.context, &bytes, &failed), LEO_OK);
    for (int i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL_FATAL(leo_rt_memory_alloc(rig.device, BYTES, &places[i]), LEO_OK);
        CU_ASSERT_EQUAL(leo_rt_memset_async(rig.stream, places[i], 0, BYTES), LEO_OK);
    }
    CU_ASSERT_EQUAL_FATAL(leo_rt_memory_alloc(rig.device, bytes + 1, &workspace), LEO_OK);
    leo_op_context_lend(rig.context, workspace, bytes);
    const struct model_run run = {.model = &build.model, .inputs = places, .outputs = places + 3};
    CU_ASSERT_EQUAL(model_run(&run, rig.context, &failed), LEO_OK);
    rig_synchronize(&rig);
    for (int i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(leo_rt_memory_free(rig.device, places[i]), LEO_OK);
    }
    CU_ASSERT_EQUAL(leo_rt_memory_free(rig.device, workspace), LEO_OK);
    model_build_free(&build);
    rig_finish(&rig);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"workspace_of_a_model_is_enough_for_its_run", workspace_of_a_model_is_enough_for_its_run}};
    return leo_test_main("model_run", tests, 1, argc, argv);
}
