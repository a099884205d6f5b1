"""What a figure must not be quoted without: machine, kernel, libraries, date."""

import os
import platform
import re
import subprocess


def read(path, default=""):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return default


def first_line(command):
    """What a command prints first; empty where it fails or is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.split("\n")[0] if done.returncode == 0 else ""


def cpu():
    found = re.search(r"^model name\s*: (.*)$", read("/proc/cpuinfo"), re.M)
    return found.group(1) if found else platform.machine()


def meminfo(field):
    """Bytes, 0 when the kernel does not say."""
    found = re.search(r"^%s:\s*(\d+) kB$" % field, read("/proc/meminfo"), re.M)
    return int(found.group(1)) * 1024 if found else 0


def chosen(path):
    """The bracketed word of a file in /sys."""
    found = re.search(r"\[(.*?)\]", read(path))
    return found.group(1) if found else "none"


def describe():
    return {
        "cpu": cpu(),
        "cpus": len(os.sched_getaffinity(0)),
        "memory_bytes": meminfo("MemTotal"),
        "kernel": "Linux " + platform.release(),
        "libc": " ".join(platform.libc_ver()),
        "compiler": first_line([os.environ.get("CC") or "cc", "--version"]),
        "thp": chosen("/sys/kernel/mm/transparent_hugepage/enabled"),
        "page_bytes": os.sysconf("SC_PAGE_SIZE"),
    }
