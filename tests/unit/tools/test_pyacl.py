# SPDX-License-Identifier: Apache-2.0
"""test_pyacl.py TOOLKIT: the module acl as the vendor's samples use it, in a Python of its own."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLKIT = Path(sys.argv[1]).resolve()
KERNELS = Path(__file__).resolve().parents[1] / "acl" / "kernels" / "acl_kernels.c"

HEAD = """
import ctypes, struct, sys, threading
import acl
H2D, D2H, D2D, HUGE_FIRST = 1, 2, 3, 0
def check(ret, what=""):
    assert ret == 0, (what, ret, acl.get_recent_err_msg())
check(acl.init())
check(acl.rt.set_device(0))
context, ret = acl.rt.create_context(0); check(ret)
stream, ret = acl.rt.create_stream(); check(ret)
"""
TAIL = """
check(acl.rt.destroy_stream(stream))
check(acl.rt.destroy_context(context))
check(acl.rt.reset_device(0))
check(acl.finalize())
print("good")
"""


class Scripts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.elf = Path(cls.place.name) / "kernels.elf"
        subprocess.run([TOOLKIT / "bin" / "leo", "cc", "--soc", "ascend910a", KERNELS, "-o", cls.elf], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def run_script(self, body):
        environment = {**os.environ, "PYTHONPATH": str(TOOLKIT / "python" / "site-packages"), "ASCEND_GLOBAL_LOG_LEVEL": "4",
                       "KERNELS": str(self.elf), "LEO_SOC": "ascend910a"}
        done = subprocess.run([sys.executable, "-B", "-c", HEAD + body + TAIL], env=environment, capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "good\n"), done.stderr)

    def test_memory(self):
        self.run_script("""
data = bytes(range(256)) * 16
device, ret = acl.rt.malloc(len(data), HUGE_FIRST); check(ret)
host, ret = acl.rt.malloc_host(len(data)); check(ret)
check(acl.rt.memcpy(device, len(data), acl.util.bytes_to_ptr(data), len(data), H2D))
check(acl.rt.memcpy_async(host, len(data), device, len(data), D2H, stream))
check(acl.rt.synchronize_stream(stream))
assert acl.util.ptr_to_bytes(host, len(data)) == data
check(acl.rt.memset(device, len(data), 7, 16))
check(acl.rt.memcpy(host, 32, device, 32, D2H))
assert acl.util.ptr_to_bytes(host, 17) == bytes([7] * 16) + data[16:17]
free, total, ret = acl.rt.get_mem_info(1); check(ret)
assert 0 < free < total
check(acl.rt.free(device)); check(acl.rt.free_host(host))
assert acl.rt.free(device) != 0 and acl.get_recent_err_msg()
""")

    def test_devices_and_events(self):
        self.run_script("""
count, ret = acl.rt.get_device_count(); check(ret)
assert count == 1
device, ret = acl.rt.get_device(); check(ret)
assert device == 0
mode, ret = acl.rt.get_run_mode(); check(ret)
assert mode == 1
current, ret = acl.rt.get_context(); check(ret)
assert current == context
check(acl.rt.set_context(context))
assert acl.get_soc_name() == "Ascend910A"
major, minor, patch, ret = acl.get_version(); check(ret)
assert (major, minor) == (1, 17), (major, minor)
assert acl.rt.set_device(99) != 0 and "99" in acl.get_recent_err_msg()
start, ret = acl.rt.create_event(); check(ret)
stop, ret = acl.rt.create_event(); check(ret)
device, ret = acl.rt.malloc(1 << 20, HUGE_FIRST); check(ret)
check(acl.rt.record_event(start, stream))
check(acl.rt.memset_async(device, 1 << 20, 1, 1 << 20, stream))
check(acl.rt.record_event(stop, stream))
check(acl.rt.synchronize_event(stop))
ms, ret = acl.rt.event_elapsed_time(start, stop); check(ret)
assert 0 < ms < 10
status, ret = acl.rt.query_event_status(stop); check(ret)
assert status == 1
notify, ret = acl.rt.create_notify(0); check(ret)
check(acl.rt.record_notify(notify, stream)); check(acl.rt.wait_and_reset_notify(notify, stream, 0))
check(acl.rt.synchronize_device())
check(acl.rt.destroy_notify(notify)); check(acl.rt.destroy_event(start)); check(acl.rt.destroy_event(stop))
check(acl.rt.free(device))
try:
    acl.rt.malloc(1)
    raise SystemExit("a call without its arguments was taken")
except TypeError:
    pass
""")

    def test_descriptions(self):
        self.run_script("""
desc = acl.create_tensor_desc(1, [2, 3, 4], 2)
assert desc and acl.get_tensor_desc_type(desc) == 1 and acl.get_tensor_desc_format(desc) == 2
assert acl.get_tensor_desc_num_dims(desc) == 3 and acl.get_tensor_desc_dim(desc, 2) == 4
dim, ret = acl.get_tensor_desc_dim_v2(desc, 1); check(ret)
assert dim == 3
assert acl.get_tensor_desc_size(desc) == 48 and acl.get_tensor_desc_element_count(desc) == 24
assert acl.set_tensor_desc_name(desc, "x") is None and acl.get_tensor_desc_name(desc) == "x"
check(acl.set_tensor_shape(desc, [24])); check(acl.set_tensor_format(desc, 0))
buffer = acl.create_data_buffer(4096, 48)
assert acl.get_data_buffer_addr(buffer) == 4096 and acl.get_data_buffer_size(buffer) == 48
dataset = acl.mdl.create_dataset()
_, ret = acl.mdl.add_dataset_buffer(dataset, buffer); check(ret)
_, ret = acl.mdl.set_dataset_tensor_desc(dataset, desc, 0); check(ret)
assert acl.mdl.get_dataset_num_buffers(dataset) == 1 and acl.mdl.get_dataset_buffer(dataset, 0) == buffer
assert acl.mdl.get_dataset_tensor_desc(dataset, 0) == desc
check(acl.mdl.destroy_dataset(dataset)); check(acl.destroy_data_buffer(buffer))
assert acl.destroy_tensor_desc(desc) is None
assert acl.data_type_size(0) == 4 and acl.float16_to_float(acl.float_to_float16(1.5)) == 1.5
attr = acl.op.create_attr()
check(acl.op.set_attr_int(attr, "axis", 1)); check(acl.op.set_attr_list_int(attr, "perm", [1, 0]))
check(acl.op.set_attr_bool(attr, "keep", 1)); check(acl.op.set_attr_float(attr, "eps", 0.5))
check(acl.op.set_attr_string(attr, "mode", "same")); check(acl.op.set_attr_list_string(attr, "names", ["a", "b"]))
acl.op.destroy_attr(attr)
""")

    def test_callbacks(self):
        self.run_script("""
seen, stop = [], threading.Event()
def reports(args):
    check(acl.rt.set_context(args[0]))
    while not stop.is_set():
        acl.rt.process_report(50)
thread, ret = acl.util.start_thread(reports, [context]); check(ret)
check(acl.rt.subscribe_report(thread, stream))
for i in range(3):
    check(acl.rt.launch_callback(seen.append, ["round", i], 1, stream))
check(acl.rt.synchronize_stream(stream))
assert seen == [["round", 0], ["round", 1], ["round", 2]], seen
check(acl.rt.unsubscribe_report(thread, stream))
stop.set()
check(acl.util.stop_thread(thread))
""")

    def test_kernels(self):
        self.run_script("""
import os
binary, ret = acl.rt.binary_load_from_file(os.environ["KERNELS"]); check(ret)
function, ret = acl.rt.binary_get_function(binary, "fill_ramp"); check(ret)
offsets = struct.pack("8i", *range(8))
out, ret = acl.rt.malloc(4096, HUGE_FIRST); check(ret)
add, ret = acl.rt.malloc(4096, HUGE_FIRST); check(ret)
check(acl.rt.memcpy(add, 4096, acl.util.bytes_to_ptr(offsets), 32, H2D))
args, ret = acl.rt.kernel_args_init(function); check(ret)
values = [struct.pack("P", out), struct.pack("b", 5), struct.pack("2i", 10, 100), struct.pack("P", add)]
for value in values:
    _, ret = acl.rt.kernel_args_append(args, acl.util.bytes_to_ptr(value), len(value)); check(ret)
check(acl.rt.kernel_args_finalize(args))
check(acl.rt.launch_kernel_with_config(function, 2, stream, 0, args))
check(acl.rt.synchronize_stream(stream))
result = bytes(256)
check(acl.rt.memcpy(acl.util.bytes_to_ptr(result), 256, out, 256, D2H))
assert struct.unpack("64i", result) == tuple(5 + 10 * i + 100 + i % 8 for i in range(64))
told = []
check(acl.rt.set_exception_info_callback(lambda info: told.append(acl.rt.get_error_code_from_exception_info(info))))
function, ret = acl.rt.binary_get_function(binary, "give_up"); check(ret)
args, ret = acl.rt.kernel_args_init(function); check(ret)
check(acl.rt.kernel_args_finalize(args))
check(acl.rt.launch_kernel_with_config(function, 1, stream, 0, args))
code = acl.rt.synchronize_stream(stream)
assert code != 0 and told == [code], (code, told)
check(acl.rt.set_exception_info_callback(None))
check(acl.rt.binary_unload(binary)); check(acl.rt.free(out)); check(acl.rt.free(add))
""")

    def test_models_are_refused(self):
        # As the samples go about it: the second step tells why there is no third.
        self.run_script("""
model, ret = acl.mdl.load_from_file(sys.executable)
assert ret == 545002 and "no model of this toolkit" in acl.get_recent_err_msg()
model, ret = acl.mdl.load_from_file("/no/such/resnet50.om")
assert ret == 145002, ret
desc = acl.mdl.create_desc()
assert acl.mdl.get_desc(desc, model) == 145003
assert acl.mdl.get_num_inputs(desc) == 0 and acl.mdl.get_num_outputs(desc) == 0
assert acl.mdl.execute(model, acl.mdl.create_dataset(), acl.mdl.create_dataset()) == 145003
assert acl.mdl.unload(model) == 145003
check(acl.mdl.destroy_desc(desc))
""")

    def test_memory_of_another_process(self):
        self.run_script("""
import os, subprocess
device, ret = acl.rt.malloc(4096, HUGE_FIRST); check(ret)
check(acl.rt.memset_d32(device, 4096, 0x01020304, 1024))
key, ret = acl.rt.ipc_mem_get_export_key(device, 4096, 65, 0); check(ret)
other = '''
import sys, acl
acl.init(); acl.rt.set_device(0)
pid, ret = acl.rt.device_get_bare_tgid()
print(pid, flush=True); input()
device, ret = acl.rt.ipc_mem_import_by_key(sys.argv[1], 0)
assert ret == 0, acl.get_recent_err_msg()
host, ret = acl.rt.malloc_host(4096)
assert acl.rt.memcpy(host, 4096, device, 4096, 2) == 0
assert acl.util.ptr_to_bytes(host, 4) == bytes([4, 3, 2, 1])
assert acl.rt.memset_d32(device, 4096, 9, 1024) == 0
assert acl.rt.ipc_mem_close(sys.argv[1]) == 0
'''
process = subprocess.Popen([sys.executable, "-B", "-c", other, key], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
check(acl.rt.ipc_mem_set_import_pid(key, [int(process.stdout.readline())], 1))
process.communicate("go")
assert process.returncode == 0
host, ret = acl.rt.malloc_host(4096); check(ret)
check(acl.rt.memcpy(host, 4096, device, 4096, D2H))
assert acl.util.ptr_to_bytes(host, 8) == bytes([9, 0, 0, 0, 9, 0, 0, 0])
base, size, ret = acl.rt.mem_get_address_range(device + 100); check(ret)
assert base == device and size >= 4096
check(acl.rt.ipc_mem_close(key))
check(acl.rt.free(device))
""")

    def test_media(self):
        self.run_script("""
NV12 = 1
channel = acl.media.dvpp_create_channel_desc()
check(acl.media.dvpp_create_channel(channel))
def picture(width, height):
    size = width * height * 3 // 2
    data, ret = acl.media.dvpp_malloc(size); check(ret)
    desc = acl.media.dvpp_create_pic_desc()
    for name, value in (("data", data), ("size", size), ("format", NV12), ("width", width), ("height", height),
                        ("width_stride", width), ("height_stride", height)):
        check(getattr(acl.media, "dvpp_set_pic_desc_" + name)(desc, value))
    return desc, data, size
large, large_data, large_size = picture(64, 32)
small, small_data, small_size = picture(16, 16)
pixels = bytes([50]) * (64 * 32) + bytes([90, 160]) * (64 * 8)
check(acl.rt.memcpy(large_data, large_size, acl.util.bytes_to_ptr(pixels), large_size, H2D))
config = acl.media.dvpp_create_resize_config()
check(acl.media.dvpp_vpc_resize_async(channel, large, small, config, stream))
check(acl.rt.synchronize_stream(stream))
result = bytes(small_size)
check(acl.rt.memcpy(acl.util.bytes_to_ptr(result), small_size, small_data, small_size, D2H))
assert result == bytes([50]) * 256 + bytes([90, 160]) * 64
assert acl.media.dvpp_get_pic_desc_ret_code(small) == 0
for desc, data in ((large, large_data), (small, small_data)):
    check(acl.media.dvpp_free(data)); check(acl.media.dvpp_destroy_pic_desc(desc))
check(acl.media.dvpp_destroy_resize_config(config))
check(acl.media.dvpp_destroy_channel(channel)); check(acl.media.dvpp_destroy_channel_desc(channel))
""")

    @unittest.skipUnless((TOOLKIT / "lib64" / "libleo_video.so").exists(), "built without libavcodec")
    def test_video(self):
        self.run_script("""
import base64
# One frame of one colour, 64 x 48, by x264.
frame = base64.b64decode("AAAAAWdkAAqs2UR7ARAAAAMAEAAAAwAg8SJZYAAAAAFo6+BnLIsAAAFliIQBr/7ugr4FNsjSvuKMaJwVz46oL00L6dDupUQrYoBcbQ==")
going, seen = [True], []
def serve(_):
    acl.rt.set_context(context)
    while going:
        acl.rt.process_report(50)
thread, ret = acl.util.start_thread(serve, []); check(ret)
def on_frame(stream_desc, pic_desc, user_data):
    size = acl.media.dvpp_get_pic_desc_size(pic_desc)
    host = bytes(size)
    check(acl.rt.memcpy(acl.util.bytes_to_ptr(host), size, acl.media.dvpp_get_pic_desc_data(pic_desc), size, D2H))
    seen.append((user_data, acl.media.dvpp_get_pic_desc_ret_code(pic_desc), host))
channel = acl.media.vdec_create_channel_desc()
check(acl.media.vdec_set_channel_desc_thread_id(channel, thread))
check(acl.media.vdec_set_channel_desc_callback(channel, on_frame))
check(acl.media.vdec_set_channel_desc_en_type(channel, 3))
check(acl.media.vdec_create_channel(channel))
data, ret = acl.media.dvpp_malloc(len(frame)); check(ret)
check(acl.rt.memcpy(data, len(frame), acl.util.bytes_to_ptr(frame), len(frame), H2D))
size = 64 * 48 * 3 // 2
place, ret = acl.media.dvpp_malloc(size); check(ret)
source, picture, end = acl.media.dvpp_create_stream_desc(), acl.media.dvpp_create_pic_desc(), acl.media.dvpp_create_stream_desc()
check(acl.media.dvpp_set_stream_desc_data(source, data)); check(acl.media.dvpp_set_stream_desc_size(source, len(frame)))
check(acl.media.dvpp_set_pic_desc_data(picture, place)); check(acl.media.dvpp_set_pic_desc_size(picture, size))
check(acl.media.dvpp_set_stream_desc_eos(end, 1))
check(acl.media.vdec_send_frame(channel, source, picture, 0, "first"))
check(acl.media.vdec_send_frame(channel, end, 0, 0, None))
check(acl.media.vdec_destroy_channel(channel))
assert seen == [("first", 0, bytes([82]) * (64 * 48) + bytes([137, 120]) * (64 * 12))]
going.clear()
check(acl.util.stop_thread(thread))
check(acl.media.vdec_destroy_channel_desc(channel))
""")

    def test_numpy(self):
        try:
            import numpy  # noqa: F401
        except ImportError:
            self.skipTest("numpy is not installed here")
        self.run_script("""
import numpy
a = numpy.arange(1000, dtype=numpy.float32).reshape(10, 100)
size = a.itemsize * a.size
device, ret = acl.rt.malloc(size, HUGE_FIRST); check(ret)
check(acl.rt.memcpy(device, size, acl.util.numpy_to_ptr(a), size, H2D))
host, ret = acl.rt.malloc_host(size); check(ret)
check(acl.rt.memcpy(host, size, device, size, D2H))
b = acl.util.ptr_to_numpy(host, (10, 100), 11)
assert b.dtype == numpy.float32 and (a == b).all()
try:
    acl.util.numpy_contiguous_to_ptr(a.T)
    raise SystemExit("taken")
except ValueError:
    pass
check(acl.rt.free(device)); check(acl.rt.free_host(host))
""")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
