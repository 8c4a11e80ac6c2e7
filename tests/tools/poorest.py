"""Run a command as if on a poorer machine than this one: `python tests/tools/poorest.py COMMAND ...`.

It has the plainest arithmetic, one thread, no GPU, no network, 1 GiB for the data of each process, and a disk that
cannot be written but for one folder of temporary files.

The limit is on data, what a process may write to (RLIMIT_DATA), and not on its address space: a kernel of this course
maps 1.6 to 2.4 GiB, of which it uses 0.4 to 0.8. Its data come to 0.5 to 0.95 GiB.
"""

import ctypes
import fcntl
import json
import os
import resource
import socket
import struct
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

GIB = 1 << 30
POOREST = {"ATEN_CPU_CAPABILITY": "default", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
LIMITS = {
    resource.RLIMIT_DATA: GIB,
    resource.RLIMIT_STACK: 2 << 20,  # of each thread: the usual 8 MiB count as data, and are hardly touched
}
NO_WAY = "NOT CHECKED without network and on a read-only disk: neither unshare nor sudo may give them here."

# From the headers of Linux; the numbers are the same on every processor.
MS_BIND, AT_FDCWD, AT_RECURSIVE, MOUNT_ATTR_RDONLY, MOUNT_SETATTR = 4096, -100, 0x8000, 1, 442
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
libc = ctypes.CDLL(None, use_errno=True)


def caches(folder):
    """The environment in which Jupyter, IPython, matplotlib and tempfile write to `folder` alone."""
    names = {"TMPDIR": "tmp", "JUPYTER_RUNTIME_DIR": "runtime", "IPYTHONDIR": "ipython", "MPLCONFIGDIR": "matplotlib"}
    for name in names.values():
        (Path(folder) / name).mkdir(exist_ok=True)
    return {variable: str(Path(folder) / name) for variable, name in names.items()}


def ways():
    """Commands that start another where network and mounts are its own: for root, for any user, for one with sudo."""
    own = ["unshare", "--net", "--mount"]
    return [own, [*own, "--map-root-user"], ["sudo", "--non-interactive", *own]]


def inside(way, folder, command):
    """The whole command that runs `command` in the poorest machine; what it has to know stands in a file."""
    note = {"command": command, "folder": str(folder), "environment": os.environ | POOREST | caches(folder)}
    if way[0] == "sudo":
        note["user"] = os.getuid(), os.getgid(), os.getgroups()
    path = Path(folder) / "note.json"
    path.touch(mode=0o600)
    path.write_text(json.dumps(note))
    return [*way, sys.executable, __file__, "inside", str(path)]


def checked(result):
    """Raise what a call of libc complains of."""
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def set_read_only(place, read_only, flags=0):
    """Make a mount read-only, or writable again."""
    attributes = struct.pack("QQQQ", MOUNT_ATTR_RDONLY * read_only, MOUNT_ATTR_RDONLY * (not read_only), 0, 0)
    checked(libc.syscall(MOUNT_SETATTR, AT_FDCWD, os.fsencode(place), flags, attributes, len(attributes)))


def limit():
    """Take memory from this process and from all that it starts."""
    for kind, size in LIMITS.items():
        resource.setrlimit(kind, (size, size))


def enter(note):
    """Give up what the poorest machine does not have, and become the command."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:  # notebooks talk to kernels over loopback
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", IFF_UP))
    folder = os.fsencode(note["folder"])
    checked(libc.mount(folder, folder, None, MS_BIND, None))
    set_read_only("/", True, AT_RECURSIVE)
    for place in (note["folder"], "/dev/shm"):  # the second is memory
        set_read_only(place, False)
    limit()
    if "user" in note:
        user, group, groups = note["user"]
        os.setgroups(groups)
        os.setgid(group)
        os.setuid(user)
    os.execvpe(note["command"][0], note["command"], note["environment"])


def working_way(folder):
    """The first way that works here, or None."""
    for way in ways():
        try:
            subprocess.run(inside(way, folder, ["true"]), check=True, capture_output=True, timeout=60)
            return way
        except (OSError, subprocess.SubprocessError):
            continue
    return None


def poorest(command):
    """Run a command there and return its exit status.

    Where nobody may have a network and mounts of their own, only the other restrictions hold. That is said at the end,
    and on GitHub, where everybody has sudo, it is an error.
    """
    with TemporaryDirectory() as folder:
        if way := working_way(folder):
            return subprocess.call(inside(way, folder, command))
        if os.environ.get("GITHUB_ACTIONS"):
            return NO_WAY
        limit()
        status = subprocess.call(command, env=os.environ | POOREST | caches(folder))
    print(NO_WAY, file=sys.stderr)
    return status


if __name__ == "__main__":
    if sys.argv[1] == "inside":
        enter(json.loads(Path(sys.argv[2]).read_text()))  # and never come back
    sys.exit(poorest(sys.argv[1:]))
