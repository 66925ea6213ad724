# SPDX-License-Identifier: Apache-2.0
"""acl.mdl: data sets. Models compiled by the vendor's tools hold code for the vendor's cores: loading one gives 207000."""

from . import _library


def add_dataset_buffer(dataset, buffer):
    return dataset, _library.call("aclmdlAddDatasetBuffer", "ptr ptr", dataset, buffer)


def set_dataset_tensor_desc(dataset, desc, index):
    return dataset, _library.call("aclmdlSetDatasetTensorDesc", "ptr ptr u64", dataset, desc, index)
