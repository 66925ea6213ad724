# SPDX-License-Identifier: Apache-2.0
"""acl.media: pictures, JPEG, videos. Most functions stand in functions.txt."""

import ctypes

from . import _library

_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
# C holds their addresses: callbacks of channels, and what frames on their way were sent with.
_callbacks, _sent = {}, {}


def vdec_set_channel_desc_callback(channel_desc, function):
    """`function(input_stream_desc, output_pic_desc, user_data)` is called for each frame sent."""
    def run(stream_desc, pic_desc, key):
        _, user_data = _sent.pop(key, (None, None))
        function(stream_desc or 0, pic_desc or 0, user_data)

    _callbacks[channel_desc] = _CALLBACK(run)
    return _library.call("aclvdecSetChannelDescCallback", "ptr ptr", channel_desc, _callbacks[channel_desc])


def _send(user_data, c_name, signature, *args):
    key = object()
    _sent[id(key)] = (key, user_data)
    code = _library.call(c_name, signature, *args, id(key))
    if code:
        _sent.pop(id(key), None)
    return code


def vdec_send_frame(channel_desc, stream_desc, pic_desc, config, user_data):
    if _library.call("acldvppGetStreamDescEos", "ptr -> u8", stream_desc):  # nobody is called
        return _library.call("aclvdecSendFrame", "ptr ptr ptr ptr ptr", channel_desc, stream_desc, pic_desc, config, 0)
    return _send(user_data, "aclvdecSendFrame", "ptr ptr ptr ptr ptr", channel_desc, stream_desc, pic_desc, config)


def vdec_send_skipped_frame(channel_desc, stream_desc, config, user_data):
    return _send(user_data, "aclvdecSendSkippedFrame", "ptr ptr ptr ptr", channel_desc, stream_desc, config)


def _batch(c_name, lists):
    """A call over a batch: numbers of areas, and one or two lists of areas, borders or places, then what is behind them."""
    def call(channel_desc, inputs, counts, size, outputs, *rest):
        areas, others = rest[:lists], rest[lists:]
        arrays = [_library.array("ptr", list(area)) for area in areas]
        return _library.call(c_name, " ".join(["ptr"] * 3 + ["u32"] + ["ptr"] * (1 + len(rest))), channel_desc, inputs,
                             _library.array("u32", list(counts)), size, outputs, *arrays, *others)
    return call


dvpp_vpc_batch_crop_async = _batch("acldvppVpcBatchCropAsync", 1)
dvpp_vpc_batch_crop_resize_async = _batch("acldvppVpcBatchCropResizeAsync", 1)
dvpp_vpc_batch_crop_and_paste_async = _batch("acldvppVpcBatchCropAndPasteAsync", 2)
dvpp_vpc_batch_crop_resize_paste_async = _batch("acldvppVpcBatchCropResizePasteAsync", 2)
dvpp_vpc_batch_crop_resize_make_border_async = _batch("acldvppVpcBatchCropResizeMakeBorderAsync", 2)
