// SPDX-License-Identifier: Apache-2.0
// Random number generators of the cards. C++ only.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

namespace torch_mlu
{

/** A seed and an offset: operators take numbers from the offset on and move it. */
class Generator final : public c10::GeneratorImpl
{
  public:
    explicit Generator(c10::DeviceIndex index);
    void set_current_seed(uint64_t seed) override;
    void set_offset(uint64_t offset) override
    {
        offset_ = offset;
    }
    uint64_t get_offset() const override
    {
        return offset_;
    }
    uint64_t current_seed() const override
    {
        return seed_;
    }
    uint64_t seed() override;
    void set_state(const c10::TensorImpl &state) override;
    c10::intrusive_ptr<c10::TensorImpl> get_state() const override;
    static c10::DeviceType device_type();

  private:
    Generator *clone_impl() const override;
    uint64_t seed_ = c10::default_rng_seed_val;
    uint64_t offset_ = 0;
};

/** The card's own; -1: of the current card. */
const at::Generator &default_generator(c10::DeviceIndex index);
at::Generator new_generator(c10::DeviceIndex index);

/** Seed and first number of an operator that takes `count` of them. */
struct Numbers {
    int seed, offset;
};
/** Takes them from the generator given, or from that of the current card. Threads may share one. */
Numbers take_numbers(const std::optional<at::Generator> &generator, int64_t count);

} // namespace torch_mlu
