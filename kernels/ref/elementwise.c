/* SPDX-License-Identifier: Apache-2.0 */
#include "ref.h"

#include <math.h>

float op_ref_relu(float value)
{
    return isnan(value) ? value : value > 0.0f ? value : 0.0f;
}

void op_ref_momentum(float *weight, float *velocity, float grad, float grad_scale, float rate,
                     float momentum)
{
    *velocity = op_ref_canonical(fmaf(grad, grad_scale, *velocity * momentum));
    const float step = *velocity * -rate;
    *weight = op_ref_canonical(step + *weight);
}
