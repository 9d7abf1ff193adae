#!/usr/bin/python3
"""tools/faults on a project of one source and two tests: which faults are planted, which of them the tests find."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

FAULTS = pathlib.Path(__file__).resolve().parent.parent.parent / "tools/faults/faults.py"
try:
    import clang.cindex  # noqa: F401
except ImportError:
    print("skipped: python3-clang is not installed")
    sys.exit(77)

CMAKE = """cmake_minimum_required(VERSION 3.25)
project(toy LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
enable_testing()
add_subdirectory(src)
add_executable(test_toy test_toy.cpp)
target_link_libraries(test_toy PRIVATE toy)
foreach(name clamp count log)
  add_test(NAME Toy.${name} COMMAND test_toy ${name})
endforeach()
add_test(NAME Broken.always COMMAND test_toy none)
"""

SOURCE = """#include "toy.h"

int clamped(int value, int most) {
  if (value > most) return most;  // equal: either way
  return value;
}

int longer(const int* sizes, int count, int limit) {
  int found = 0;
  for (int i = 0; i < count; ++i) {
    if (sizes[i] >= limit && sizes[i] != 7) ++found;
  }
  return found;
}

static int calls = 0;
static constexpr int kTable[] = {1, 2};

void log_call() {
  calls = calls + 1;
}

int never() { return kTable[0] + 1; }
"""

TEST = """#include <cstring>
#include "toy.h"
int main(int, char** arguments) {
  if (!std::strcmp(arguments[1], "clamp")) return clamped(3, 5) != 3 || clamped(9, 5) != 5;
  const int sizes[] = {1, 4, 5, 9, 7};
  if (!std::strcmp(arguments[1], "count")) return longer(sizes, 4, 4) != 3;
  if (!std::strcmp(arguments[1], "log")) { log_call(); return 0; }
  return 1;
}
"""


class FaultsTest(unittest.TestCase):
    def hunt(self, project, *flags):
        done = subprocess.run([FAULTS, "--source", project, *flags], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_survivors_are_those_that_no_test_finds(self):
        with tempfile.TemporaryDirectory() as folder:
            project = pathlib.Path(folder) / "toy"
            (project / "src").mkdir(parents=True)
            (project / "CMakeLists.txt").write_text(CMAKE)
            (project / "src/CMakeLists.txt").write_text("add_library(toy STATIC toy.cpp)\ntarget_include_directories(toy PUBLIC .)\n")
            (project / "src/toy.h").write_text("int clamped(int, int);\nint longer(const int*, int, int);\nvoid log_call();\nint never();\n")
            (project / "src/toy.cpp").write_text(SOURCE)
            (project / "test_toy.cpp").write_text(TEST)
            subprocess.run(["git", "init", "-q", project], check=True)
            said = self.hunt(project, "src/toy.cpp")
            survivors = (project / "build/faults/survivors.txt").read_text().splitlines()
            self.assertEqual(survivors, [
                "src/toy.cpp:4: `value > most` with one more on the right",
                "src/toy.cpp:10: 0 and one more in `int i = 0`",
                "src/toy.cpp:10: `i < count` with one more on the right",
                "src/toy.cpp:20: without `calls = calls + 1`",
                "src/toy.cpp:20: `calls + 1` without what is right of +",
                "src/toy.cpp:11: `sizes[i] >= limit && sizes[i] != 7` without `sizes[i] != 7` (no test comes by)",
                "src/toy.cpp:23: `kTable[0] + 1` without what is right of + (no test comes by)",
                "src/toy.cpp:23: 0 and one more in `kTable[0]` (no test comes by)",
            ], said)
            self.assertIn("left out, since they fail without a fault: Broken.always", said)
            # What was planted is not what the next hunt begins from, and a better test finds more.
            (project / "test_toy.cpp").write_text(TEST.replace("{1, 4, 5, 9, 7}", "{4, 4, 9, 7, 9}"))
            self.hunt(project, "src/toy.cpp", "--tests", "clamp|count")
            survivors = (project / "build/faults/survivors.txt").read_text().splitlines()
            self.assertEqual([s for s in survivors if "no test" not in s], ["src/toy.cpp:4: `value > most` with one more on the right"], said)

    def test_cuda_sources_that_are_compiled_as_cpp(self):
        with tempfile.TemporaryDirectory() as folder:
            project = pathlib.Path(folder) / "toy"
            (project / "src").mkdir(parents=True)
            (project / "CMakeLists.txt").write_text(CMAKE.replace("clamp count log", "twice"))
            (project / "src/CMakeLists.txt").write_text("set_source_files_properties(kernel.cu PROPERTIES LANGUAGE CXX)\nadd_library(toy STATIC kernel.cu)\n"
                                                        "target_compile_options(toy PRIVATE -x c++)\n")
            (project / "src/kernel.cu").write_text("#define __device__\nconstexpr int kTwo = 2;\n#include \"src/kernel.cuh\"\nint twice(int x) { return doubled(x); }\n")
            (project / "src/kernel.cuh").write_text("#define CHECK_GE(a, b) do { if (!((a) >= (b))) __builtin_abort(); } while (false)\n"
                                                    "__device__ inline int doubled(int x) {\n  CHECK_GE(x, 1);\n  return kTwo * x;\n}\n")
            (project / "src/other.cu").write_text("this is not compiled\n")
            (project / "test_toy.cpp").write_text("int twice(int);\nint main() { return twice(1) != 2; }\n")
            (project / "CMakeLists.txt").write_text((project / "CMakeLists.txt").read_text().replace("add_sub", "include_directories(${CMAKE_SOURCE_DIR})\nadd_sub"))
            subprocess.run(["git", "init", "-q", project], check=True)
            said = self.hunt(project, "src")
            survivors = (project / "build/faults/survivors.txt").read_text().splitlines()
            self.assertEqual(survivors, ["src/kernel.cuh:4: `kTwo * x` without what is right of *"], said)

    def test_a_folder_that_is_not_there_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            project = pathlib.Path(folder)
            (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(empty LANGUAGES CXX)\n")
            subprocess.run(["git", "init", "-q", project], check=True)
            done = subprocess.run([FAULTS, "--source", project, "src/none"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{project}/src/none is not there", done.stderr)


if __name__ == "__main__":
    unittest.main()
