/* SPDX-License-Identifier: Apache-2.0 */
/* A training step of ResNet-50: forward, loss, backward and Adam, every operator of it, on data
 * that is in device memory (sink mode). */
#include "measure.h"
#include "network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES = 4, MAX_REPEATS = 6, EXPANSION = 4, CLASSES = 10, FEATURES = 2048 };

/* Three convolutions beside a shortcut, which is one too where shapes change. */
struct bottleneck {
    struct network_unit unit[3], shortcut;
    bool has_shortcut;
    struct leo_op_tensor x, inner[2], out; /* maps kept for the gradient */
};

struct resnet {
    struct network net;
    int64_t size; /* of images */
    struct network_unit stem;
    struct bottleneck block[STAGES][MAX_REPEATS];
    unsigned weight, bias; /* of the last layer */
    struct leo_op_tensor images, labels, on, off;
    struct leo_op_tensor stem_out, pooled, features; /* kept for the gradient */
    struct leo_op_tensor loss;
};

static const int repeats[STAGES] = {3, 4, 6, 3};
static const int64_t pool_size[] = {3, 3}, pool_stride[] = {2, 2}, pool_pad[] = {1, 1},
                     ones[] = {1, 1};

static struct leo_op_arg tensor(const struct leo_op_tensor *value)
{
    return leo_op_arg_tensor(value);
}

static struct leo_op_arg number(double value)
{
    return leo_op_arg_number(value);
}

static void make_block(struct resnet *r, struct bottleneck *b, int64_t in, int64_t inner,
                       int64_t stride, int64_t size)
{
    struct network *net = &r->net;
    const int64_t after = (size - 1) / stride + 1;
    network_unit_init(net, &b->unit[0], in, inner, 1, 1, size);
    network_unit_init(net, &b->unit[1], inner, inner, 3, stride, size);
    network_unit_init(net, &b->unit[2], inner, inner * EXPANSION, 1, 1, after);
    b->has_shortcut = stride != 1 || in != inner * EXPANSION;
    if (b->has_shortcut) {
        network_unit_init(net, &b->shortcut, in, inner * EXPANSION, 1, stride, size);
    }
}

static void put(struct network *net, const struct leo_op_tensor *to, const void *from, size_t bytes)
{
    if (net->status == LEO_OK) {
        net->status = leo_rt_memcpy(net->chip->device, (void *)(uintptr_t)to->addr, from, bytes);
    }
}

static void make_data(struct resnet *r)
{
    struct network *net = &r->net;
    const int64_t dim[] = {net->batch, 3, r->size, r->size}, one = 1;
    const size_t count = (size_t)(net->batch * 3 * r->size * r->size);
    float *images = malloc(count * sizeof(float));
    int32_t *labels = malloc((size_t)net->batch * sizeof(int32_t));
    const float zero_one[] = {0, 1};
    r->images = network_tensor(net, LEO_DTYPE_F32, 4, dim, 0);
    r->labels = network_tensor(net, LEO_DTYPE_S32, 1, dim, 0);
    r->on = network_tensor(net, LEO_DTYPE_F32, 1, &one, 0);
    r->off = network_tensor(net, LEO_DTYPE_F32, 1, &one, 0);
    r->loss = network_tensor(net, LEO_DTYPE_F32, 1, &one, 0);
    if (!images || !labels) {
        net->status = leo_status_first(net->status, LEO_ERR_NO_MEMORY);
    } else {
        for (size_t i = 0; i < count; i++) {
            images[i] = (float)(i * 2654435761u % 1021) / 510 - 1;
        }
        for (int64_t i = 0; i < net->batch; i++) {
            labels[i] = (int32_t)(i % CLASSES);
        }
        put(net, &r->images, images, count * sizeof(float));
        put(net, &r->labels, labels, (size_t)net->batch * sizeof(int32_t));
        put(net, &r->off, &zero_one[0], sizeof(float));
        put(net, &r->on, &zero_one[1], sizeof(float));
    }
    free(images);
    free(labels);
}

static void make(struct resnet *r)
{
    struct network *net = &r->net;
    int64_t channels = 64, size = (r->size - 1) / 2 + 1;
    network_unit_init(net, &r->stem, 3, channels, 7, 2, r->size);
    size = (size - 1) / 2 + 1;
    for (int s = 0; s < STAGES; s++) {
        const int64_t inner = (int64_t)64 << s;
        for (int i = 0; i < repeats[s]; i++) {
            const int64_t stride = s > 0 && i == 0 ? 2 : 1;
            make_block(r, &r->block[s][i], channels, inner, stride, size);
            channels = inner * EXPANSION;
            size = (size - 1) / stride + 1;
        }
    }
    const float range = sqrtf(1.0f / FEATURES);
    r->weight = network_param(net, (int64_t)CLASSES * FEATURES, 0, range);
    r->bias = network_param(net, CLASSES, 0, range);
    make_data(r);
}

static struct leo_op_tensor add(struct network *net, const struct leo_op_tensor *a,
                                const struct leo_op_tensor *b)
{
    const struct leo_op_tensor sum = network_map(net, a->dtype, a->dim[1], a->dim[2]);
    NETWORK_RUN(net, "Add", tensor(a), tensor(b), number(1), tensor(&sum));
    return sum;
}

static struct leo_op_tensor block_forward(struct network *net, struct bottleneck *b,
                                          struct leo_op_tensor x)
{
    b->x = x;
    b->inner[0] = network_relu(net, network_unit_forward(net, &b->unit[0], &x));
    b->inner[1] = network_relu(net, network_unit_forward(net, &b->unit[1], &b->inner[0]));
    const struct leo_op_tensor y = network_unit_forward(net, &b->unit[2], &b->inner[1]);
    const struct leo_op_tensor side =
        b->has_shortcut ? network_unit_forward(net, &b->shortcut, &x) : x;
    const struct leo_op_tensor sum = add(net, &y, &side);
    network_free(net, &y);
    if (b->has_shortcut) {
        network_free(net, &side);
    }
    b->out = network_relu(net, sum);
    return b->out;
}

// Takes the gradient of the block's output; that output and what else was kept ends.
static struct leo_op_tensor block_backward(struct network *net, struct bottleneck *b,
                                           struct leo_op_tensor gradient)
{
    const struct leo_op_tensor g = network_relu_backward(net, gradient, b->out);
    struct leo_op_tensor side = g, inner = network_unit_backward(net, &b->unit[2], &g, true);
    if (b->has_shortcut) {
        side = network_unit_backward(net, &b->shortcut, &g, true);
        network_free(net, &g);
    }
    for (unsigned i = 2; i-- > 0;) {
        const struct leo_op_tensor before = network_relu_backward(net, inner, b->inner[i]);
        inner = network_unit_backward(net, &b->unit[i], &before, true);
        network_free(net, &before);
    }
    const struct leo_op_tensor dx = add(net, &inner, &side);
    network_free(net, &inner);
    network_free(net, &side);
    return dx;
}

static struct leo_op_tensor as_matrix(const struct leo_op_tensor *t, int64_t rows, int64_t columns)
{
    const int64_t dim[] = {rows, columns};
    return leo_op_tensor(t->addr, t->dtype, 2, dim);
}

static struct leo_op_tensor matrix(struct network *net, enum leo_dtype dtype, int64_t columns)
{
    const int64_t dim[] = {net->batch, columns};
    return network_tensor(net, dtype, 2, dim, 0);
}

static void forward(struct resnet *r)
{
    struct network *net = &r->net;
    const struct leo_op_tensor half = network_cast(net, &r->images, LEO_DTYPE_F16),
                               x = network_map(net, LEO_DTYPE_F16, 3, r->size);
    NETWORK_RUN(net, "TransData", tensor(&half), tensor(&x));
    network_free(net, &half);
    r->stem_out = network_relu(net, network_unit_forward(net, &r->stem, &x));
    r->stem.owns_x = true; // it ends with its gradient
    r->pooled = network_map(net, net->maps, 64, (r->stem_out.dim[2] - 1) / 2 + 1);
    NETWORK_RUN(net, "AclMaxPool", tensor(&r->stem_out), leo_op_arg_ints(pool_size, 2),
                leo_op_arg_ints(pool_stride, 2), leo_op_arg_ints(pool_pad, 2),
                leo_op_arg_ints(ones, 2), number(0), tensor(&r->pooled), leo_op_arg_none());
    struct leo_op_tensor y = r->pooled;
    for (int s = 0; s < STAGES; s++) {
        for (int i = 0; i < repeats[s]; i++) {
            y = block_forward(net, &r->block[s][i], y);
        }
    }
    // A map of one position is a row of its channels.
    const struct leo_op_tensor mean = network_map(net, net->maps, FEATURES, 1);
    NETWORK_RUN(net, "AdaptiveAvgPool2d", tensor(&y), leo_op_arg_ints(ones, 2), tensor(&mean));
    const struct leo_op_tensor row = as_matrix(&mean, net->batch, FEATURES);
    r->features = network_cast(net, &row, LEO_DTYPE_F16);
    if (r->features.addr != row.addr) {
        network_free(net, &row);
    }
}

// Gradient of the last layer's sums, in halves.
static struct leo_op_tensor find_loss(struct resnet *r)
{
    struct network *net = &r->net;
    const int64_t batch_dim[] = {0};
    const struct leo_op_tensor flat =
        network_cast(net, &net->param[r->weight].value, LEO_DTYPE_F16);
    const struct leo_op_tensor weight = as_matrix(&flat, CLASSES, FEATURES),
                               turned = leo_op_transposed(&weight),
                               sums = matrix(net, LEO_DTYPE_F32, CLASSES),
                               wanted = matrix(net, LEO_DTYPE_F32, CLASSES),
                               back = matrix(net, LEO_DTYPE_F32, CLASSES),
                               losses = network_tensor(net, LEO_DTYPE_F32, 1, &net->batch, 0);
    NETWORK_RUN(net, "Addmm", tensor(&net->param[r->bias].value), tensor(&r->features),
                tensor(&turned), number(1), number(1), tensor(&sums), number(0));
    NETWORK_RUN(net, "OneHot", tensor(&r->labels), number(CLASSES), tensor(&r->on), tensor(&r->off),
                number(-1), tensor(&wanted));
    NETWORK_RUN(net, "SoftmaxCrossEntropyWithLogits", tensor(&sums), tensor(&wanted),
                tensor(&losses), tensor(&back));
    NETWORK_RUN(net, "Mean", tensor(&losses), leo_op_arg_ints(batch_dim, 1), number(1),
                leo_op_arg_dtype(LEO_DTYPE_F32), tensor(&r->loss));
    NETWORK_RUN(net, "InplaceMuls", tensor(&back), number(1.0 / (double)net->batch));
    const struct leo_op_tensor half = network_cast(net, &back, LEO_DTYPE_F16);
    const struct leo_op_tensor *over[] = {&flat, &sums, &wanted, &back, &losses};
    for (unsigned i = 0; i < 5; i++) {
        network_free(net, over[i]);
    }
    return half;
}

// Gradients of the last layer; that of the maps before it.
static struct leo_op_tensor head_backward(struct resnet *r, struct leo_op_tensor gradient,
                                          const struct leo_op_tensor *maps)
{
    struct network *net = &r->net;
    const int64_t batch_dim[] = {0};
    const struct network_param *w = &net->param[r->weight];
    const struct leo_op_tensor flat = network_cast(net, &w->value, LEO_DTYPE_F16);
    const struct leo_op_tensor weight = as_matrix(&flat, CLASSES, FEATURES),
                               turned = leo_op_transposed(&gradient),
                               dw = as_matrix(&w->gradient, CLASSES, FEATURES),
                               half_dx = matrix(net, LEO_DTYPE_F16, FEATURES);
    NETWORK_RUN(net, "Mm", tensor(&turned), tensor(&r->features), tensor(&dw), number(0));
    NETWORK_RUN(net, "ReduceSum", tensor(&gradient), leo_op_arg_ints(batch_dim, 1), number(0),
                leo_op_arg_dtype(LEO_DTYPE_F32), tensor(&net->param[r->bias].gradient));
    NETWORK_RUN(net, "Mm", tensor(&gradient), tensor(&weight), tensor(&half_dx), number(0));
    const struct leo_op_tensor dx = network_cast(net, &half_dx, net->maps);
    const int64_t dim[] = {net->batch, FEATURES, 1, 1};
    struct leo_op_tensor position = leo_op_tensor(dx.addr, dx.dtype, 4, dim);
    position.format = NC1HWC0;
    const struct leo_op_tensor back = network_map(net, net->maps, FEATURES, maps->dim[2]);
    NETWORK_RUN(net, "AdaptiveAvgPool2dBackward", tensor(&position), tensor(maps), tensor(&back));
    const struct leo_op_tensor *over[] = {&flat, &half_dx, &dx, &gradient, &r->features};
    for (unsigned i = 0; i < 5; i++) {
        network_free(net, over[i]);
    }
    return back;
}

static leo_status step(struct resnet *r)
{
    struct network *net = &r->net;
    forward(r);
    struct leo_op_tensor g =
        head_backward(r, find_loss(r), &r->block[STAGES - 1][repeats[STAGES - 1] - 1].out);
    for (int s = STAGES; s-- > 0;) {
        for (int i = repeats[s]; i-- > 0;) {
            g = block_backward(net, &r->block[s][i], g);
        }
    }
    const struct leo_op_tensor before =
        network_map(net, net->maps, r->stem_out.dim[1], r->stem_out.dim[2]);
    NETWORK_RUN(net, "AclMaxPoolGrad", tensor(&r->stem_out), tensor(&g),
                leo_op_arg_ints(pool_size, 2), leo_op_arg_ints(pool_stride, 2),
                leo_op_arg_ints(pool_pad, 2), leo_op_arg_ints(ones, 2), number(0), tensor(&before));
    network_free(net, &g);
    network_free(net, &r->pooled);
    const struct leo_op_tensor last = network_relu_backward(net, before, r->stem_out);
    (void)network_unit_backward(net, &r->stem, &last, false);
    network_free(net, &last);
    network_adam(net);
    return net->status;
}

enum { TASKS = 8192 };

static int by_time(const void *a, const void *b)
{
    const struct accuracy_share *x = a, *y = b;
    return (x->us < y->us) - (x->us > y->us);
}

static void note_share(struct accuracy_result *result, const char *name, double us)
{
    unsigned at = 0;
    while (at < result->shares &&
           strncmp(result->share[at].name, name, sizeof(result->share[at].name) - 1) != 0) {
        at++;
    }
    if (at == ACCURACY_SHARES) {
        return;
    }
    if (at == result->shares) {
        snprintf(result->share[at].name, sizeof(result->share[at].name), "%s", name);
        result->shares++;
    }
    result->share[at].kernels++;
    result->share[at].us += us;
}

// Kernels of the step, from the first start to the last end.
static leo_status read_tasks(struct resnet *r, struct accuracy_result *result)
{
    struct leo_rt_device *device = r->net.chip->device;
    struct leo_rt_profile_task *tasks = calloc(TASKS, sizeof(*tasks));
    size_t count = 0;
    uint64_t lost = 0;
    leo_status status =
        tasks ? leo_rt_profile_tasks(device, tasks, TASKS, &count, &lost) : LEO_ERR_NO_MEMORY;
    if (status == LEO_OK && (lost || count == 0 || count > TASKS)) {
        status = LEO_ERR_NOT_FOUND;
    }
    for (size_t i = 0; status == LEO_OK && i < count; i++) {
        const struct leo_task_record *record = &tasks[i].record;
        const double us = (double)(record->end_ns - record->start_ns) / 1e3;
        result->record.start_ns = i ? result->record.start_ns : record->start_ns;
        result->record.end_ns = record->end_ns;
        if (record->opcode == LEO_SQE_OP_KERNEL) {
            result->kernels_us += us;
            note_share(result, tasks[i].tag, us);
        }
    }
    qsort(result->share, result->shares, sizeof(result->share[0]), by_time);
    free(tasks);
    return status;
}

// The loss must be a number: a step on garbage would take the same time.
static leo_status check_loss(struct resnet *r, struct accuracy_params *params)
{
    float loss = NAN;
    leo_status status = leo_rt_memcpy(r->net.chip->device, &loss,
                                      (const void *)(uintptr_t)r->loss.addr, sizeof(loss));
    if (status == LEO_OK && !(loss > 0 && loss < 100)) {
        snprintf(params->error, sizeof(params->error), "the loss is %g", (double)loss);
        status = LEO_ERR_MISMATCH;
    }
    return status;
}

static leo_status run(struct resnet *r, struct accuracy_params *params,
                      struct accuracy_result *result)
{
    struct accuracy_chip *chip = r->net.chip;
    leo_status status = r->net.status;
    for (unsigned i = 0; status == LEO_OK && i < chip->warm; i++) {
        status = step(r);
    }
    if (status == LEO_OK) {
        status = accuracy_chip_settle(chip);
    }
    if (status == LEO_OK) {
        status = leo_rt_profile_start(chip->device, TASKS, 0);
    }
    if (status != LEO_OK) {
        return status;
    }
    status = step(r);
    const leo_status waited = leo_rt_stream_synchronize(chip->stream, -1);
    status = leo_status_first(status, waited);
    if (status == LEO_OK) {
        status = read_tasks(r, result);
    }
    const leo_status stopped = leo_rt_profile_stop(chip->device);
    status = leo_status_first(status, stopped);
    return status == LEO_OK ? check_loss(r, params) : status;
}

leo_status accuracy_run_network(struct accuracy_chip *chip, struct accuracy_params *params,
                                struct accuracy_result *result)
{
    static const char *const names[] = {"resnet50", NULL}, *const optimizers[] = {"adam", NULL},
                             *const levels[] = {"O0", "O3", NULL};
    (void)accuracy_params_word(params, "name", names);
    (void)accuracy_params_word(params, "optimizer", optimizers);
    const char *amp = accuracy_params_word(params, "amp", levels);
    const int64_t size = (int64_t)accuracy_params_number(params, "hw", 224, 32, 1024),
                  batch = (int64_t)accuracy_params_number(params, "batch", 1, 1, 256);
    (void)accuracy_params_number(params, "sink", 1, 1, 1); // images are in device memory
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    struct resnet *r = calloc(1, sizeof(*r));
    if (!r) {
        return LEO_ERR_NO_MEMORY;
    }
    network_begin(&r->net, chip, batch, strcmp(amp, "O3") == 0);
    r->size = size;
    make(r);
    leo_status status = run(r, params, result);
    network_end(&r->net);
    status = leo_status_first(status, r->net.status);
    free(r);
    return status;
}
