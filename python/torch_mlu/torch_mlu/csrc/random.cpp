// SPDX-License-Identifier: Apache-2.0
// Random numbers.
#include "elementwise.hpp"
#include "generator.hpp"

#include <torch/library.h>

#include <limits>

namespace torch_mlu
{
namespace
{

using Chosen = std::optional<at::Generator>;

at::Tensor &uniform(at::Tensor &self, double from, double to, Chosen generator)
{
    TORCH_CHECK(from <= to, "uniform_ from ", from, " to ", to);
    if (self.numel()) {
        const Numbers numbers = take_numbers(generator, self.numel());
        run(cnnlGenerateRandUniform, CNNL_RAND_RNG_PHILOX, false, numbers.seed, numbers.offset,
            nullptr, nullptr, 0U, static_cast<float>(from), static_cast<float>(to), out(self));
    }
    return self;
}

at::Tensor &normal(at::Tensor &self, double mean, double deviation, Chosen generator)
{
    TORCH_CHECK(deviation >= 0, "normal_ with a standard deviation of ", deviation);
    if (self.numel()) {
        const Numbers numbers = take_numbers(generator, self.numel());
        run(cnnlGenerateRandNormal, CNNL_RAND_RNG_PHILOX, false, numbers.seed, numbers.offset,
            nullptr, nullptr, 0U, mean, deviation, out(self));
    }
    return self;
}

/** Whole numbers in [from, to). */
at::Tensor &whole(at::Tensor &self, int64_t from, int64_t to, Chosen generator)
{
    TORCH_CHECK(from < to, "random_ from ", from, " to ", to);
    if (self.numel()) {
        const Numbers numbers = take_numbers(generator, self.numel());
        run(cnnlGenerateRandDiscreteUniform, CNNL_RAND_RNG_PHILOX, false, numbers.seed,
            numbers.offset, nullptr, nullptr, 0U, to - from, from, out(self));
    }
    return self;
}

/** One more than the largest number that all from 0 to it are exact in. */
int64_t exact_range(at::ScalarType type)
{
    switch (type) {
    case at::kHalf:
        return 2049;
    case at::kBFloat16:
        return 257;
    case at::kFloat:
        return (int64_t{1} << 24) + 1;
    case at::kBool:
        return 2;
    case at::kByte:
        return 256;
    case at::kChar:
        return 128;
    case at::kShort:
        return 32768;
    case at::kInt:
        return int64_t{1} << 31;
    default:
        return std::numeric_limits<int64_t>::max();
    }
}

at::Tensor &random(at::Tensor &self, Chosen generator)
{
    return whole(self, 0, exact_range(self.scalar_type()), std::move(generator));
}

at::Tensor &random_to(at::Tensor &self, int64_t to, Chosen generator)
{
    return whole(self, 0, to, std::move(generator));
}

at::Tensor &random_from(at::Tensor &self, int64_t from, std::optional<int64_t> to, Chosen generator)
{
    return whole(self, from, to.value_or(exact_range(self.scalar_type())), std::move(generator));
}

at::Tensor &bernoulli_chance(at::Tensor &self, double p, Chosen generator)
{
    TORCH_CHECK(p >= 0 && p <= 1, "bernoulli_ with a chance of ", p);
    at::Tensor chance = at::empty(self.sizes(), self.options().dtype(at::kFloat));
    return self.copy_(uniform(chance, 0, 1, std::move(generator)).lt(p));
}

at::Tensor &bernoulli_tensor(at::Tensor &self, const at::Tensor &p, Chosen generator)
{
    at::Tensor chance = at::empty(self.sizes(), self.options().dtype(at::kFloat));
    return self.copy_(uniform(chance, 0, 1, std::move(generator)).lt(p.to(self.device())));
}

at::Tensor &bernoulli_out(const at::Tensor &p, Chosen generator, at::Tensor &y)
{
    fit(y, p.sizes());
    return bernoulli_tensor(y, p, std::move(generator));
}

std::tuple<at::Tensor, at::Tensor> dropout(const at::Tensor &x, double p, std::optional<bool> train)
{
    at::Tensor y = at::empty_like(x), mask = at::empty_like(x, x.options().dtype(at::kBool));
    if (!x.numel() || p == 0 || !train.value_or(true)) {
        return {y.copy_(x), mask.fill_(true)};
    }
    if (p == 1) {
        return {y.zero_(), mask.fill_(false)};
    }
    const Numbers numbers = take_numbers(std::nullopt, x.numel());
    run(cnnlFusedDropout_v3, CNNL_RAND_RNG_PHILOX, in(x), false, numbers.seed, numbers.offset,
        nullptr, nullptr, 0U, 1 - p, out(mask), out(y));
    return {y, mask};
}

at::Tensor dropout_backward(const at::Tensor &diff, const at::Tensor &mask, double scale)
{
    at::Tensor diff_x = at::empty_like(diff);
    if (diff_x.numel()) {
        const float factor = static_cast<float>(scale);
        run(cnnlMasked_v4, CNNL_MASKED_SCALE, in(diff), in(mask), in(at::Tensor()), &factor, work(),
            out(diff_x), nullptr);
    }
    return diff_x;
}

at::Tensor &exponential(at::Tensor &self, double rate, Chosen generator)
{
    TORCH_CHECK(rate > 0, "exponential_ with a rate of ", rate);
    uniform(self, 0, 1, std::move(generator)).neg_().log1p_().mul_(-1 / rate); // 1 - u is never 0
    return self;
}

/** Without replacement the first of exponential clocks that run at the weights' rates; with it
 * places in running sums. */
at::Tensor multinomial(const at::Tensor &weights, int64_t count, bool replacement, Chosen generator)
{
    TORCH_CHECK(count > 0 && (replacement || count <= weights.size(-1)), "multinomial: ", count,
                " of ", weights.size(-1), " without replacement");
    const at::Tensor wide = weights.to(at::kFloat);
    if (!replacement || count == 1) {
        at::Tensor clocks = at::empty_like(wide);
        exponential(clocks, 1, std::move(generator));
        return std::get<1>((wide / clocks).topk(count, -1));
    }
    const at::Tensor sums = wide.cumsum(-1);
    std::vector<int64_t> sizes = wide.sizes().vec();
    sizes.back() = count;
    at::Tensor drawn = at::empty(sizes, wide.options());
    uniform(drawn, 0, 1, std::move(generator));
    drawn.mul_(sums.narrow(-1, sums.size(-1) - 1, 1));
    return drawn.unsqueeze(-1).ge(sums.unsqueeze(-2)).sum(-1).clamp_max(weights.size(-1) - 1);
}

/** The order of as many random numbers. */
at::Tensor &randperm(int64_t n, Chosen generator, at::Tensor &y)
{
    fit(y, {n});
    if (n) {
        at::Tensor keys = at::empty({n}, y.options().dtype(at::kFloat));
        y.copy_(std::get<1>(uniform(keys, 0, 1, std::move(generator)).sort()));
    }
    return y;
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("uniform_", uniform);
    m.impl("normal_", normal);
    m.impl("random_", random);
    m.impl("random_.to", random_to);
    m.impl("random_.from", random_from);
    m.impl("bernoulli_.float", bernoulli_chance);
    m.impl("bernoulli_.Tensor", bernoulli_tensor);
    m.impl("bernoulli.out", bernoulli_out);
    m.impl("exponential_", exponential);
    m.impl("multinomial", multinomial);
    m.impl("native_dropout", dropout);
    m.impl("native_dropout_backward", dropout_backward);
    m.impl("randperm.generator_out", randperm);
}

} // namespace torch_mlu
