# SPDX-License-Identifier: Apache-2.0
"""communication.json: what a profile's collectives took, in the fields that torch_npu adds up."""

from tables import us

MB, MS = 1e6, 1e6  # bytes; nanoseconds


def ratio(part, whole):
    return round(part / whole, 4) if whole else 0


def operator(link):
    """Waiting ends when the last rank is there; the links are HCCS, as the [link] section of the chip prices them."""
    wait, transit = (link.sim_ready - link.sim_start) / MS, (link.sim_end - link.sim_ready) / MS
    size = link.bytes / MB
    return {
        "Communication Time Info": {
            "Start Timestamp(us)": us(link.start), "Elapse Time(ms)": wait + transit, "Transit Time(ms)": transit,
            "Wait Time(ms)": wait, "Synchronization Time(ms)": wait, "Idle Time(ms)": 0.0,
            "Wait Time Ratio": ratio(wait, wait + transit), "Synchronization Time Ratio": ratio(wait, wait + transit)},
        "Communication Bandwidth Info": {
            "HCCS": {"Transit Size(MB)": size, "Transit Time(ms)": transit, "Bandwidth(GB/s)": ratio(size, transit),
                     "Large Packet Ratio": 0, "Size Distribution": {str(size): [1, transit]}}}}


def operators(profile):
    return {f"{link.name}@{link.group}": operator(link) for device in profile.devices for link in device.links}
