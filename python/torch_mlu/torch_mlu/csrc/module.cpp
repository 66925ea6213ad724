// SPDX-License-Identifier: Apache-2.0
// torch_mlu._C: what torch's own Python does not reach.
#include "generator.hpp"
#include "process_group.hpp"
#include "runtime.hpp"

#include <torch/extension.h>

namespace torch_mlu
{
namespace
{

cnrtDeviceProp_t properties_of(c10::DeviceIndex index)
{
    cnrtDeviceProp_t properties{};
    check(cnrtGetDeviceProperties(&properties, index), "cnrtGetDeviceProperties");
    return properties;
}

std::string name_of(const cnrtDeviceProp_t &properties)
{
    return properties.name;
}

int64_t memory_of(const cnrtDeviceProp_t &properties)
{
    return static_cast<int64_t>(properties.totalGlobalMemSize);
}

uintptr_t queue_number(c10::DeviceIndex index, c10::StreamId stream)
{
    return reinterpret_cast<uintptr_t>(
        queue_of(c10::Stream(c10::Stream::UNSAFE, c10::Device(kMlu, index), stream)));
}

c10::intrusive_ptr<c10d::Backend> make_group(const c10::intrusive_ptr<c10d::Store> &store, int rank,
                                             int size)
{
    return c10::make_intrusive<ProcessGroup>(store, rank, size);
}

} // namespace

/** Entries of torch_mlu._C. */
void bind(pybind11::module_ &m)
{
    namespace py = pybind11;
    py::class_<cnrtDeviceProp_t>(m, "_DeviceProperties")
        .def_property_readonly("name", name_of)
        .def_readonly("major", &cnrtDeviceProp_t::computeCapabilityMajor)
        .def_readonly("minor", &cnrtDeviceProp_t::computeCapabilityMinor)
        .def_property_readonly("total_memory", memory_of)
        .def_readonly("cluster_count", &cnrtDeviceProp_t::clusterCount)
        .def_readonly("core_num_per_cluster", &cnrtDeviceProp_t::McorePerCluster);
    m.def("device_count", device_count);
    m.def("current_device", current_device);
    m.def("set_device", set_device);
    m.def("device_properties", properties_of);
    m.def("device_name", [](c10::DeviceIndex index) { return name_of(properties_of(index)); });
    m.def("default_generator", default_generator);
    m.def("queue_of", queue_number);
    m.def("process_group", make_group, py::call_guard<py::gil_scoped_release>());
    m.def("synchronize", synchronize_device, py::call_guard<py::gil_scoped_release>());
}

} // namespace torch_mlu

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)
{
    torch_mlu::bind(m);
}
