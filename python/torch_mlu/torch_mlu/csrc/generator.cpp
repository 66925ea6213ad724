// SPDX-License-Identifier: Apache-2.0
#include "generator.hpp"

#include "runtime.hpp"

#include <ATen/Utils.h>
#include <ATen/core/GeneratorForPrivateuseone.h>

#include <cstring>
#include <deque>

namespace torch_mlu
{

Generator::Generator(c10::DeviceIndex index)
    : c10::GeneratorImpl(c10::Device(kMlu, index),
                         c10::DispatchKeySet(c10::DispatchKey::PrivateUse1))
{
}

void Generator::set_current_seed(uint64_t seed)
{
    seed_ = seed;
    offset_ = 0;
}

uint64_t Generator::seed()
{
    set_current_seed(c10::detail::getNonDeterministicRandom(true));
    return seed_;
}

void Generator::set_state(const c10::TensorImpl &state)
{
    at::detail::check_rng_state(state);
    uint64_t words[2];
    TORCH_CHECK(state.numel() == sizeof(words), "a state of ", sizeof(words),
                " bytes is needed, not ", state.numel());
    std::memcpy(words, state.data(), sizeof(words));
    seed_ = words[0];
    offset_ = words[1];
}

c10::intrusive_ptr<c10::TensorImpl> Generator::get_state() const
{
    const uint64_t words[2] = {seed_, offset_};
    at::Tensor state = at::detail::empty_cpu({sizeof(words)}, at::kByte, std::nullopt, std::nullopt,
                                             std::nullopt, std::nullopt);
    std::memcpy(state.mutable_data_ptr(), words, sizeof(words));
    return state.getIntrusivePtr();
}

c10::DeviceType Generator::device_type()
{
    return kMlu;
}

Generator *Generator::clone_impl() const
{
    auto *const copy = new Generator(device_.index());
    copy->seed_ = seed_;
    copy->offset_ = offset_;
    return copy;
}

at::Generator new_generator(c10::DeviceIndex index)
{
    return at::make_generator<Generator>(index == -1 ? current_device() : index);
}

const at::Generator &default_generator(c10::DeviceIndex index)
{
    static auto *const all = [] {
        auto *const made = new std::deque<at::Generator>;
        for (c10::DeviceIndex i = 0; i < device_count(); i++) {
            made->push_back(at::make_generator<Generator>(i));
        }
        return made;
    }();
    const c10::DeviceIndex wanted = index == -1 ? current_device() : index;
    TORCH_CHECK(wanted >= 0 && static_cast<size_t>(wanted) < all->size(), "there is no card ",
                static_cast<int>(wanted));
    return (*all)[static_cast<size_t>(wanted)];
}

Numbers take_numbers(const std::optional<at::Generator> &generator, int64_t count)
{
    at::Generator used =
        generator.has_value() && generator->defined() ? *generator : default_generator(-1);
    TORCH_CHECK(used.device().type() == kMlu, "a generator of a card is needed, not of ",
                used.device());
    const std::lock_guard<std::mutex> hold(used.mutex());
    const Numbers numbers{static_cast<int>(used.current_seed()),
                          static_cast<int>(used.get_offset())};
    used.set_offset(used.get_offset() + static_cast<uint64_t>(count + 3) / 4);
    return numbers;
}

} // namespace torch_mlu
