/* SPDX-License-Identifier: Apache-2.0 */
/* leo-train: learns handwritten digits on a simulated chip and tells where the simulated time went.
 */
#include "digits.h"
#include "net.h"
#include "report.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };
enum {
    BATCH = 64,
    SPLIT_SEED = 1,
    PROFILE_TASKS = 4096,
    TIMELINE_STEPS = 4,
    TIMELINE_RECORDS = 200000
};

struct options {
    const char *soc, *simd, *data, *timeline, *net;
    unsigned epochs, threads;
    uint64_t seed;
    float loss_scale;
};

/* The digits, which of them are for training, and what is computed on. */
struct run {
    const struct options *options;
    const struct recipe *recipe;
    struct digits digits;
    uint32_t *order; /**< first `train` numbers: for training, shuffled each epoch; then the
                        held-out ones */
    uint32_t train, held_out;
    float *pixels, *losses, *prob;
    int32_t *labels;
    struct leo_rt *rt;
    struct leo_rt_device *device;
    struct net *net;
    struct train_random random;
    struct report report;
    unsigned skipped;
    float rate;
};

static const char usage[] =
    "usage: leo-train [option...]\n"
    "Trains a network on handwritten digits on a simulated chip.\n"
    "  --net NAME        mlp: a perceptron (default); lenet: two convolutions and two products, "
    "which "
    "learns\n"
    "                    from digits that are shifted by a pixel at random\n"
    "  --soc NAME        chip: ascend910a, ascend910b1 or a SoC file (default LEO_SOC, else "
    "ascend910a)\n"
    "  --epochs N        passes over the training digits, 1..1000 (default: mlp 15, lenet 30)\n"
    "  --threads N       host threads (default LEO_THREADS, else all); results do not depend on "
    "it\n"
    "  --simd NAME       host arithmetic: generic, avx2, avx512 (default LEO_SIMD, else the best); "
    "same\n"
    "  --data FILE       digits as comma separated values (default: those of the source tree)\n"
    "  --timeline FILE   where to write the first steps for Perfetto (default timeline.json; '' = "
    "nowhere)\n"
    "  --seed N          seed of the initial weights and of the order of digits (default 1)\n"
    "  --loss-scale X    factor on the loss against underflow in f16 (default 1024)\n"
    "  --help            this text\n"
    "exit codes: 0 trained, 1 failed, 2 wrong usage\n";

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool parse_count(const char *text, unsigned long least, unsigned long most, unsigned *value)
{
    char *end;
    errno = 0;
    const unsigned long parsed = strtoul(text, &end, 10);
    *value = (unsigned)parsed;
    return *text >= '0' && *text <= '9' && *end == '\0' && !errno && parsed >= least &&
           parsed <= most;
}

static bool parse_scale(const char *text, float *value)
{
    char *end;
    *value = strtof(text, &end);
    return end != text && *end == '\0' && *value > 0 && *value <= 1e30f;
}

/* True: go on. Else the exit code is in `code`. */
static bool parse_options(int argc, char **argv, struct options *options, int *code)
{
    static const struct option names[] = {
        {"soc", required_argument, NULL, 's'},
        {"epochs", required_argument, NULL, 'e'},
        {"threads", required_argument, NULL, 't'},
        {"simd", required_argument, NULL, 'v'},
        {"data", required_argument, NULL, 'd'},
        {"timeline", required_argument, NULL, 'l'},
        {"seed", required_argument, NULL, 'r'},
        {"loss-scale", required_argument, NULL, 'x'},
        {"net", required_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    int name, index = 0;
    unsigned seed = 1;
    *code = EXIT_USAGE;
    while ((name = getopt_long(argc, argv, "", names, &index)) != -1) {
        bool good = true;
        switch (name) {
        case 's':
            options->soc = optarg;
            break;
        case 'n':
            options->net = optarg;
            good = net_describe(optarg) != NULL;
            break;
        case 'e':
            good = parse_count(optarg, 1, 1000, &options->epochs);
            break;
        case 't':
            good = parse_count(optarg, 1, 1024, &options->threads);
            break;
        case 'v':
            options->simd = optarg;
            break;
        case 'd':
            options->data = optarg;
            break;
        case 'l':
            options->timeline = optarg;
            break;
        case 'r':
            good = parse_count(optarg, 0, UINT32_MAX, &seed);
            break;
        case 'x':
            good = parse_scale(optarg, &options->loss_scale);
            break;
        case 'h':
            fputs(usage, stdout);
            *code = EXIT_GOOD;
            return false;
        default:
            fputs(usage, stderr);
            return false;
        }
        if (!good) {
            fprintf(stderr, "leo-train: --%s: '%s' is not possible\n%s", names[index].name, optarg,
                    usage);
            return false;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "leo-train: unexpected argument '%s'\n%s", argv[optind], usage);
        return false;
    }
    options->seed = seed;
    return true;
}

/** How a network is trained. */
static const struct recipe {
    const char *net;
    float rate, decay;  /**< of the rate, an epoch: smaller steps settle */
    float weight_decay; /**< added to the gradient, times the weight */
    unsigned shifted;   /**< of ten digits, by up to a pixel each way */
    unsigned epochs;    /**< unless told otherwise */
} recipes[] = {
    {"mlp", 0.1f, 0.8f, 0, 0, 15},
    {"lenet", 0.08f, 0.92f, 2e-3f, 9, 30},
};

static const struct recipe *find_recipe(const char *net)
{
    const struct recipe *recipe = recipes;
    while (strcmp(recipe->net, net) != 0) {
        recipe++;
    }
    return recipe;
}

/* A digit moved right and down; what comes in is 0. */
static void copy_shifted(float *to, const float *from, int right, int down)
{
    enum { SIDE = 8 };
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            const int from_x = x - right, from_y = y - down;
            const bool inside = from_x >= 0 && from_x < SIDE && from_y >= 0 && from_y < SIDE;
            to[y * SIDE + x] = inside ? from[from_y * SIDE + from_x] : 0;
        }
    }
}

/* Rows order[0..count) of the digits, side by side. `random` not NULL: some of them shifted. */
static void gather(struct run *run, const uint32_t *order, uint32_t count,
                   struct train_random *random)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t bits = random ? train_random_next(random) : 0;
        const bool shift = random && (bits >> 17) % 10 < run->recipe->shifted;
        copy_shifted(run->pixels + (size_t)i * DIGITS_PIXELS,
                     run->digits.pixels + (size_t)order[i] * DIGITS_PIXELS,
                     shift ? (int)(bits & 0xff) % 3 - 1 : 0,
                     shift ? (int)(bits >> 8 & 0xff) % 3 - 1 : 0);
        run->labels[i] = run->digits.labels[order[i]];
    }
}

/* A fifth is held out; false, with a message, if the rest fills no batch. */
static bool split(struct run *run)
{
    const uint32_t count = run->digits.count;
    run->train = count - count / 5;
    run->held_out = count / 5;
    if (run->train < BATCH) {
        fprintf(stderr, "leo-train: %s: %u digits are too few, training takes at least %d\n",
                run->options->data, count, (BATCH - 1) * 5 / 4 + 1);
    }
    return run->train >= BATCH;
}

static leo_status prepare(struct run *run)
{
    const struct options *options = run->options;
    const uint32_t count = run->digits.count;
    run->order = calloc(count, sizeof(*run->order));
    run->pixels = calloc((size_t)count * DIGITS_PIXELS, sizeof(*run->pixels));
    run->labels = calloc(count, sizeof(*run->labels));
    run->losses = calloc(count, sizeof(*run->losses));
    run->prob = calloc((size_t)count * NET_CLASSES, sizeof(*run->prob));
    if (!run->order || !run->pixels || !run->labels || !run->losses || !run->prob) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    for (uint32_t i = 0; i < count; i++) {
        run->order[i] = i;
    }
    struct train_random random = {SPLIT_SEED};
    train_random_shuffle(&random, run->order, count);

    const struct leo_rt_opts opts = {.size = sizeof(opts),
                                     .soc = options->soc,
                                     .host_threads = options->threads,
                                     .simd = options->simd};
    const struct net_opts net = {.name = options->net,
                                 .batch = BATCH,
                                 .rows = run->train,
                                 .loss_scale = options->loss_scale,
                                 .momentum = 0.9f,
                                 .weight_decay = run->recipe->weight_decay};
    run->random.state = options->seed;
    leo_status status = leo_rt_create(&opts, &run->rt);
    if (status == LEO_OK) {
        status = leo_rt_device_open(run->rt, 0, &run->device);
    }
    return status == LEO_OK ? net_create(run->device, &net, &run->random, &run->net) : status;
}

/* Adds the profile to the report and stops it; writes it if it is the one with instructions. */
static leo_status end_profile(struct run *run, bool timeline)
{
    leo_status status = leo_rt_device_synchronize(run->device);
    if (status == LEO_OK) {
        status = report_add(&run->report, run->device, PROFILE_TASKS);
    }
    if (status == LEO_OK && timeline) {
        status = leo_rt_profile_write(run->device, run->options->timeline);
    }
    return status != LEO_OK ? status : leo_rt_profile_stop(run->device);
}

static leo_status train_epoch(struct run *run, bool timeline, float *loss)
{
    const uint32_t steps = run->train / BATCH;
    double sum = 0;
    train_random_shuffle(&run->random, run->order, run->train);
    gather(run, run->order, run->train, run->recipe->shifted ? &run->random : NULL);
    // What was launched before, while nothing kept names, is not part of the profile.
    leo_status status = leo_rt_device_synchronize(run->device);
    if (status == LEO_OK) {
        status = leo_rt_profile_start(run->device, PROFILE_TASKS, timeline ? TIMELINE_RECORDS : 0);
    }
    if (status == LEO_OK) {
        status = net_upload(run->net, run->pixels, run->labels, run->train);
    }
    for (uint32_t step = 0; status == LEO_OK && step < steps; step++) {
        bool skipped = false;
        status = net_step(run->net, step * BATCH, run->rate, &skipped);
        run->skipped += skipped;
        if (status == LEO_OK && timeline && step + 1 == TIMELINE_STEPS) {
            // The rest of the epoch is profiled without its instructions.
            status = end_profile(run, true);
            if (status == LEO_OK) {
                status = leo_rt_profile_start(run->device, PROFILE_TASKS, 0);
            }
            timeline = false;
        }
    }
    if (status == LEO_OK) {
        status = end_profile(run, timeline);
    }
    if (status == LEO_OK) {
        status = net_losses(run->net, steps * BATCH, run->losses);
    }
    for (uint32_t i = 0; i < steps * BATCH; i++) {
        sum += (double)run->losses[i];
    }
    *loss = (float)(sum / (double)(steps * BATCH));
    return status;
}

static leo_status measure(struct run *run, double *accuracy)
{
    uint32_t right = 0;
    gather(run, run->order + run->train, run->held_out, NULL);
    leo_status status = net_upload(run->net, run->pixels, run->labels, run->held_out);
    if (status == LEO_OK) {
        status = net_infer(run->net, run->held_out, run->prob);
    }
    for (uint32_t i = 0; status == LEO_OK && i < run->held_out; i++) {
        const float *prob = run->prob + (size_t)i * NET_CLASSES;
        int best = 0;
        for (int c = 1; c < NET_CLASSES; c++) {
            best = prob[c] > prob[best] ? c : best;
        }
        right += best == run->labels[i];
    }
    *accuracy = 100.0 * right / run->held_out;
    return status;
}

static leo_status train(struct run *run)
{
    struct leo_caps caps;
    double accuracy = 0;
    leo_status status = prepare(run);
    if (status != LEO_OK) {
        return status;
    }
    leo_rt_device_get_caps(run->device, &caps);
    printf("%s\n", net_describe(run->options->net));
    printf("chip %s, %u digits for training, %u held out, batch %d, loss scale %g\n", caps.soc_name,
           run->train, run->held_out, BATCH, (double)run->options->loss_scale);
    for (unsigned epoch = 1; status == LEO_OK && epoch <= run->options->epochs; epoch++) {
        const double begin = now();
        const uint64_t begin_ns = leo_rt_device_host_time_ns(run->device);
        float loss = 0;
        status = train_epoch(run, epoch == 1 && *run->options->timeline, &loss);
        if (status == LEO_OK) {
            status = measure(run, &accuracy);
        }
        run->rate *= run->recipe->decay;
        if (status == LEO_OK) {
            printf(
                "epoch %3u  loss %.9g (%a)  accuracy %6.2f %%  simulated %10.1f us  wall %.3f s\n",
                epoch, (double)loss, (double)loss, accuracy,
                (double)(leo_rt_device_host_time_ns(run->device) - begin_ns) * 1e-3, now() - begin);
            fflush(stdout);
        }
    }
    if (status == LEO_OK) {
        printf("held-out accuracy %.2f %%, %u steps skipped for overflow\n", accuracy,
               run->skipped);
        struct report_roofs roofs;
        status = report_roofs_of(run->device, &roofs);
        if (status != LEO_OK) {
            return status;
        }
        report_print(&run->report, &roofs, stdout);
        if (*run->options->timeline) {
            printf("\ntimeline of the first steps: %s (open it in ui.perfetto.dev)\n",
                   run->options->timeline);
        }
    }
    return status;
}

int main(int argc, char **argv)
{
    struct options options = {
        .data = LEO_DIGITS, .timeline = "timeline.json", .net = "mlp", .loss_scale = 1024};
    struct run run = {.options = &options};
    char error[256];
    int code;
    if (!parse_options(argc, argv, &options, &code)) {
        return code;
    }
    run.recipe = find_recipe(options.net);
    run.rate = run.recipe->rate;
    options.epochs = options.epochs ? options.epochs : run.recipe->epochs;
    if (digits_read(options.data, &run.digits, error, sizeof(error)) != LEO_OK) {
        fprintf(stderr, "leo-train: %s\n", error);
        return EXIT_FAILED;
    }
    if (!split(&run)) {
        digits_finish(&run.digits);
        return EXIT_FAILED;
    }
    leo_status status = train(&run);
    if (status != LEO_OK) {
        fprintf(stderr, "leo-train: %s: %s\n", leo_status_name(status), leo_rt_last_error());
    }
    net_destroy(run.net);
    leo_rt_device_close(run.device);
    leo_rt_destroy(run.rt);
    free(run.order);
    free(run.pixels);
    free(run.labels);
    free(run.losses);
    free(run.prob);
    digits_finish(&run.digits);
    // A figure that was not written was not shown.
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "leo-train: cannot write standard output\n");
        return EXIT_FAILED;
    }
    return status == LEO_OK ? EXIT_GOOD : EXIT_FAILED;
}
