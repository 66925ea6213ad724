/* SPDX-License-Identifier: Apache-2.0 */
/* leo-train with convolutions, as a user runs it: it learns. */
#include "harness.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void lenet_learns_and_the_report_names_its_operators(void)
{
    char line[1024];
    double accuracy = 0;
    bool convolutions = false, roofs = false;
    double part[3] = {-1, -1, -1};
    FILE *pipe =
        popen("LEO_SOC=ascend910a " LEO_TRAIN " --net lenet --epochs 15 --timeline ''", "r");
    if (!pipe) {
        CU_FAIL_FATAL("cannot run leo-train");
    }
    while (fgets(line, sizeof(line), pipe)) {
        (void)sscanf(line, "held-out accuracy %lf", &accuracy);
        roofs = roofs || strncmp(line, "Roofline:", 9) == 0;
        if (roofs) { // "Name cube% vector% memory% roof"
            (void)sscanf(line, "ConvolutionBackward %lf%% %lf%% %lf%%", &part[0], &part[1],
                         &part[2]);
        }
        convolutions = convolutions || strncmp(line, "ConvolutionBackward ", 20) == 0;
    }
    CU_ASSERT_EQUAL(pclose(pipe), 0);
    printf("%.2f %% ", accuracy);
    CU_ASSERT_TRUE(accuracy >= 98.5);
    CU_ASSERT_TRUE(convolutions);
    for (int i = 0; i < 3; i++) { // all of it lies in the L2: memory may have no part
        CU_ASSERT_TRUE((i == 2 ? part[i] >= 0 : part[i] > 0) && part[i] <= 100);
    }
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"lenet_learns_and_the_report_names_its_operators",
         lenet_learns_and_the_report_names_its_operators},
    };
    return leo_test_main("lenet", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
