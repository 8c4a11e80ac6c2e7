"""Run a command as if on a poorer machine than this one, or watch the kernels that it starts on a busier one.

    python tests/tools/machines.py poorest COMMAND ...
    python tests/tools/machines.py busiest COMMAND ...

The poorest machine has the plainest arithmetic, one thread, no GPU, no network, 1 GiB for the data of each process, and
a disk that cannot be written but for one folder of temporary files. On the busiest, torch keeps four threads whatever
`setup` asks for, and at least eight kernels have to run at once; none may take more than 1 GiB.

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
import threading
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

GIB = 1 << 30
KERNELS = 8  # at once, on the busiest machine
THREADS = 4
POOREST = {"ATEN_CPU_CAPABILITY": "default", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
BUSIEST = {"OMP_NUM_THREADS": str(THREADS), "OMP_WAIT_POLICY": "passive"}  # waiting threads leave the cores to others
KEEP_THREADS = f"import torch\ntorch.set_num_threads({THREADS})\ntorch.set_num_threads = lambda count: None\n"
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


def busy_environment(folder):
    """The environment of the busiest machine, where a kernel is told before its first cell to keep its threads."""
    start = Path(folder) / "ipython" / "profile_default" / "startup"
    start.mkdir(parents=True)
    (start / "threads.py").write_text(KEEP_THREADS)
    return BUSIEST | caches(folder)


# The poorest machine.


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


def enter(note):
    """Give up what the poorest machine does not have, and become the command."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:  # notebooks talk to kernels over loopback
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", IFF_UP))
    folder = os.fsencode(note["folder"])
    checked(libc.mount(folder, folder, None, MS_BIND, None))
    set_read_only("/", True, AT_RECURSIVE)
    for place in (note["folder"], "/dev/shm"):  # the second is memory
        set_read_only(place, False)
    resource.setrlimit(resource.RLIMIT_DATA, (GIB, GIB))
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
        resource.setrlimit(resource.RLIMIT_DATA, (GIB, GIB))
        status = subprocess.call(command, env=os.environ | POOREST | caches(folder))
    print(NO_WAY, file=sys.stderr)
    return status


# The busiest machine.


@dataclass
class Watch:
    """What the kernels below a process take: the most that each took, all together, and how many ran at once."""

    root: int
    peaks: dict[tuple[int, str], int] = field(default_factory=dict)  # process and notebook -> bytes
    together: int = 0  # bytes
    at_once: int = 0

    def look(self):
        """Add what the kernels take now."""
        now = {kernel: size for kernel in kernels_below(self.root) if (size := proportional_size(kernel[0]))}
        for kernel, size in now.items():
            self.peaks[kernel] = max(size, self.peaks.get(kernel, 0))
        self.together = max(self.together, sum(now.values()))
        self.at_once = max(self.at_once, len(now))

    def table(self):
        """What was seen, as text."""
        rows = [f"{name:28} {size / GIB:5.2f} GiB" for (_, name), size in sorted(self.peaks.items(), key=by_name)]
        total = f"{'together, at the most':28} {self.together / GIB:5.2f} GiB, {self.at_once} kernels at once"
        return "\n".join(["the most that each kernel took (PSS)", *rows, total])

    def complaints(self):
        """What was too much or too little."""
        for (_, name), size in self.peaks.items():
            if size > GIB:
                yield f"{name} took {size / GIB:.2f} GiB, expected at most 1"
        if self.at_once < KERNELS:
            yield f"{self.at_once} kernels ran at once, expected at least {KERNELS}"


def by_name(entry):
    """The notebook of an entry of a watch."""
    (_, name), _ = entry
    return name


def parents():
    """Every process and its parent."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, _, rest = status.read_text().rpartition(")")  # the name before may hold spaces
        except OSError:  # it has ended
            continue
        yield int(status.parent.name), int(rest.split()[1])


def kernels_below(root):
    """The kernels among the descendants of a process, each with the notebook that it runs."""
    parent = dict(parents())
    for process in parent:
        above = process
        while above not in (root, 0):
            above = parent.get(above, 0)
        if above == root and (name := notebook_of(process)):
            yield process, name


def notebook_of(process):
    """The notebook that a kernel was started for, by pytest; empty for a process that is no kernel."""
    try:
        if b"ipykernel_launcher" not in Path(f"/proc/{process}/cmdline").read_bytes():
            return ""
        pairs = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    (test,) = [pair.partition(b"=")[2] for pair in pairs if pair.startswith(b"PYTEST_CURRENT_TEST=")] or [b"a kernel"]
    return Path(test.decode().partition("::")[0]).stem


def proportional_size(process):
    """What a process takes in bytes, with its share of what it shares; 0 when it has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def busiest(command):
    """Run a command there, print what its kernels take, and return its exit status or what was wrong."""
    with (
        TemporaryDirectory() as folder,
        subprocess.Popen(command, env=os.environ | busy_environment(folder)) as process,
    ):
        watch, done = Watch(process.pid), threading.Event()

        def look_on():
            while not done.wait(0.5):
                watch.look()

        eye = threading.Thread(target=look_on)
        eye.start()
        status = process.wait()
        done.set()
        eye.join()
    print(watch.table())
    return status or "\n".join(watch.complaints()) or 0


def main(arguments):
    """Run the named machine."""
    machine, *command = arguments
    if machine == "inside":
        return enter(json.loads(Path(command[0]).read_text()))
    return {"poorest": poorest, "busiest": busiest}[machine](command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
