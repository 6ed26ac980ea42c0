"""Unloading leaves nothing behind, and calls that come after the end get a code."""

import os
import shutil
import subprocess

import interface
import pytest

SANITIZED = "sanitize" in interface.BUILD
PROGRAM = r"""
#include "mtml_2.2.0.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define FIND(name) name##_function name = (name##_function)dlsym(library, #name)

typedef MtmlReturn (*mtmlLibraryInit_function)(MtmlLibrary **);
typedef MtmlReturn (*mtmlLibraryShutDown_function)(MtmlLibrary *);
typedef MtmlReturn (*mtmlLibraryInitDeviceByIndex_function)(const MtmlLibrary *, unsigned int, MtmlDevice **);
typedef MtmlReturn (*mtmlDeviceInitGpu_function)(const MtmlDevice *, MtmlGpu **);
typedef MtmlReturn (*mtmlLogSetConfiguration_function)(const MtmlLogConfiguration *);

static long resident(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (!file || fscanf(file, "%*s %ld", &pages) != 1)
        exit(3);
    fclose(file);
    return pages * 4;
}

static void use(const char *path, int forgetful)
{
    MtmlLogConfiguration log = {0};
    MtmlLibrary *handle;
    MtmlDevice *device;
    MtmlGpu *gpu;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        exit(4);
    FIND(mtmlLibraryInit);
    FIND(mtmlLibraryShutDown);
    FIND(mtmlLibraryInitDeviceByIndex);
    FIND(mtmlDeviceInitGpu);
    FIND(mtmlLogSetConfiguration);
    log.fileConfig.level = MTML_LOG_LEVEL_INFO;
    snprintf(log.fileConfig.file, sizeof log.fileConfig.file, "/dev/null");
    if (mtmlLibraryInit(&handle) || mtmlLogSetConfiguration(&log) ||
        mtmlLibraryInitDeviceByIndex(handle, 0, &device) || mtmlDeviceInitGpu(device, &gpu))
        exit(5);
    if (!forgetful && mtmlLibraryShutDown(handle))
        exit(6);
    if (dlclose(library) || dlopen(path, RTLD_NOW | RTLD_NOLOAD))
        exit(7);
}

static int open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    if (!folder)
        exit(8);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    int rounds = atoi(argv[2]);
    int files = open_files();
    long before;

    (void)argc;
    use(argv[1], 0);
    before = resident();
    for (int i = 0; i < rounds; i++)
        use(argv[1], i % 2);
    if (open_files() != files)
        return 9;
    printf("%ld\n", resident() - before);
    return 0;
}
"""
LATE = r"""
#include "mtml_2.2.0.h"
#include "simulator/mtml_sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static MtmlLibrary *library;
static MtmlGpu *gpu;

/* Runs after the library's own end, which a program's destructors with an early priority do not. */
static void late(void)
{
    unsigned int value;
    MtmlLibrary *again;

    printf("%d", mtmlGpuGetUtilization(gpu, &value));
    printf(" %d", mtmlLibraryShutDown(library));
    printf(" %d", mtmlLibraryInit(&again));
    printf(" %d %u %s", mtmlSimSet(0, "gpu_temperature", "1"), mtmlSimGetLibraryReferences(),
           mtmlErrorString(MTML_ERROR_TIMEOUT));
    fflush(stdout);
}

int main(void)
{
    MtmlDevice *device;

    if (mtmlLibraryInit(&library) || mtmlLibraryInitDeviceByIndex(library, 0, &device) ||
        mtmlDeviceInitGpu(device, &gpu))
        return 1;
    /* What the loader calls for the library when the process ends, sooner than others are done. */
    END();
    late();
    _exit(0);
}
"""


def compiled(folder, text, *options):
    (folder / "program.c").write_text(text)
    binary = str(folder / "program")
    command = [os.environ.get("CC", "cc"), "-std=c11", "-D_GNU_SOURCE", "-g", "-I" + interface.ROOT]
    command += [str(folder / "program.c"), "-o", binary, "-ldl"] + list(options)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return binary


def run(command, **variables):
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MTML_SIM_", "LD_PRELOAD"))
    }
    environment.update(variables)
    return subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100
    )


@pytest.mark.skipif(SANITIZED, reason="the library is linked against a sanitizer that the program has not")
@pytest.mark.parametrize("control", [False, True])
def test_hundreds_of_cycles(tmp_path, control):
    binary = compiled(tmp_path, PROGRAM)
    variables = {"MTML_SIM_CONTROL": str(tmp_path / "control")} if control else {}
    done = run([binary, interface.LIBRARY_PATH, "300"], MTML_SIM_TRACE=str(tmp_path / "trace"), **variables)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 1000, "kilobytes more than after the first cycle"


@pytest.mark.skipif(SANITIZED, reason="is a build of its own")
def test_leak_sanitizer_of_a_c_client(tmp_path):
    """Programs that close the library as they should pass under it."""
    binary = compiled(tmp_path, PROGRAM, "-fsanitize=address")
    variables = {"ASAN_OPTIONS": "detect_leaks=1", "MTML_SIM_CONTROL": str(tmp_path / "control")}
    done = run([binary, interface.LIBRARY_PATH, "3"], **variables)
    if "LeakSanitizer has encountered a fatal error" in done.stderr:
        pytest.skip("LeakSanitizer may not look at a process here")
    assert done.returncode == 0 and "leak" not in done.stderr, done.stderr
    # And it does look.
    broken = compiled(
        tmp_path, PROGRAM.replace("before = resident();", "before = malloc(99) ? 0 : 1;"), "-fsanitize=address"
    )
    assert "LeakSanitizer" in run([broken, interface.LIBRARY_PATH, "3"], **variables).stderr


@pytest.mark.skipif(
    SANITIZED or not shutil.which("valgrind"), reason="needs valgrind, and a library without sanitizers"
)
def test_valgrind_of_a_c_client(tmp_path):
    binary = compiled(tmp_path, PROGRAM)
    command = ["valgrind", "-q", "--leak-check=full", "--show-leak-kinds=all", "--error-exitcode=9"]
    done = run(command + [binary, interface.LIBRARY_PATH, "3"])
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(SANITIZED, reason="the library is linked against a sanitizer that the program has not")
def test_calls_after_the_end(tmp_path):
    """A destructor that comes late, as of a program that closes its monitor at exit."""
    linked = ["-Wl,-rpath," + interface.BUILD, os.path.join(interface.BUILD, "libmtml.so.2")]
    text = LATE.replace("    END();\n", "    {\n" + FINALIZE + "    }\n").replace("#include <stdio.h>", HEADERS)
    done = run([compiled(tmp_path, text, *linked)])
    assert (done.returncode, done.stdout) == (0, "999 999 999 -1 0 Timeout"), done.stderr


HEADERS = "#include <dlfcn.h>\n#include <elf.h>\n#include <link.h>\n#include <stdio.h>"
# Runs the library's destructors, found where the loader finds them.
FINALIZE = r"""
        struct link_map *map = NULL;
        void (**functions)(void) = NULL;
        size_t count = 0;

        if (dlinfo(dlopen("libmtml.so.2", RTLD_NOW), RTLD_DI_LINKMAP, &map))
            return 2;
        for (ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_FINI_ARRAY)
                functions = (void (**)(void))(map->l_addr + entry->d_un.d_ptr);
            if (entry->d_tag == DT_FINI_ARRAYSZ)
                count = entry->d_un.d_val / sizeof *functions;
        }
        /* The last is the library's; the first is the compiler's own, which may run once only. */
        functions[count - 1]();
"""


# ==== Strict ====


def strict(lines, **variables):
    code = "lib = P(); dev = P(); gpu = P(); L.mtmlLibraryInit(R(lib))\n"
    code += "def device(): L.mtmlLibraryInitDeviceByIndex(lib, 0, R(dev))\n"
    code += "def free(): return L.mtmlLibraryFreeDevice(dev)\n"
    return interface.run_python(code + lines, **dict({"MTML_SIM_PROFILE": "s80", "MTML_SIM_STRICT": "1"}, **variables))


@pytest.mark.parametrize(
    "lines, problem",
    [
        ("device(); free(); L.mtmlDeviceGetIndex(dev, R(ctypes.c_uint()))", "mtmlDeviceGetIndex"),
        ("device(); free(); free()", "mtmlLibraryFreeDevice"),
        ("device(); L.mtmlDeviceInitGpu(dev, R(gpu)); L.mtmlDeviceFreeGpu(gpu); L.mtmlDeviceFreeGpu(gpu)", "FreeGpu"),
        ("s = P(); L.mtmlLibraryInitSystem(lib, R(s)); [L.mtmlLibraryFreeSystem(s) for _ in range(2)]", "FreeSystem"),
    ],
)
def test_strict(lines, problem):
    done = strict(lines)
    assert done.returncode == -6
    assert problem in done.stderr and "the handle is dangling: it was freed" in done.stderr
    assert strict(lines, MTML_SIM_STRICT="0").returncode == 0
    assert strict(lines, MTML_SIM_LENIENT="1").returncode == 0


def test_strict_counts():
    """As often as it was handed out, and a new one is another handle."""
    lines = "device(); device(); free(); assert L.mtmlDeviceGetIndex(dev, R(ctypes.c_uint())) == 0; old = dev.value\n"
    lines += "free(); device(); assert dev.value != old; assert free() == 0\n"
    lines += "s = P(); [L.mtmlLibraryInitSystem(lib, R(s)) for _ in range(3)]\n"
    lines += "assert [L.mtmlLibraryFreeSystem(s) for _ in range(3)] == [0, 0, 0]\n"
    lines += "assert L.mtmlLibraryInitSystem(lib, R(s)) == 0 and L.mtmlLibraryFreeSystem(s) == 0\n"
    lines += "assert L.mtmlLibraryShutDown(lib) == 0\n"
    lines += (
        "os.environ['MTML_SIM_STRICT'] = '0'; L.mtmlLibraryInit(R(lib)); device(); assert [free(), free()] == [0, 0]"
    )
    done = strict(lines)
    assert done.returncode == 0, done.stderr


# ==== ThreadSanitizer ====

THREADS = r"""
#include "mtml_2.2.0.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static MtmlGpu *gpu;

static void *ask(void *nothing)
{
    int temperature;

    for (int i = 0; i < 1000; i++)
        mtmlGpuGetTemperature(gpu, &temperature);
    return nothing;
}

int main(void)
{
    MtmlLibrary *library;
    MtmlDevice *device;
    pthread_t thread;
    int status;
    pid_t child;

    if (mtmlLibraryInit(&library) || mtmlLibraryInitDeviceByIndex(library, 0, &device) ||
        mtmlDeviceInitGpu(device, &gpu) || pthread_create(&thread, NULL, ask, NULL))
        return 1;
    child = fork();
    if (!child) {
        ask(NULL);
        _exit(0);
    }
    waitpid(child, &status, 0);
    pthread_join(thread, NULL);
    printf("%d\n", status);
    return (int)mtmlLibraryShutDown(library);
}
"""


@pytest.mark.skipif(SANITIZED or not shutil.which("setarch"), reason="needs setarch, and a library without sanitizers")
def test_thread_sanitizer_and_fork(tmp_path):
    """As docs/simulator-in-c.md has it; without address randomization, which the sanitizer of some compilers wants."""
    options = ["-fsanitize=thread", "-pthread", "-Wl,-rpath," + interface.BUILD]
    binary = compiled(tmp_path, THREADS, *options, os.path.join(interface.BUILD, "libmtml.so.2"))
    done = run(["setarch", "-R", binary], TSAN_OPTIONS="report_thread_leaks=0")
    if "FATAL: ThreadSanitizer" in done.stderr:
        pytest.skip("ThreadSanitizer does not start here")
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
    assert "WARNING" not in done.stderr
