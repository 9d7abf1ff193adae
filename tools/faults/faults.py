#!/usr/bin/python3
"""Which subtle faults would the tests not find? Plants them by the syntax tree, one switch each, and runs the tests.

  tools/faults/faults.py src/server/openai             all sources of a folder, not those of folders within
  tools/faults/faults.py src/text/bpe.cpp src/plan     a source, and another folder
  tools/faults/faults.py src/engine --share 0.2        a fifth of the faults, the same ones each time
  tools/faults/faults.py src/server --tests 'Server|Http'   only tests of such names
  tools/faults/faults.py src/server --targets server_test   only this program is built, and its tests run

A fault is a comparison turned round or off by one, half of an `and` or `or`, an operand of a sum or product, a statement left
out, a number one higher. All of them are compiled into one build in build/faults (fault.h); those that do not compile are left
out. Each test runs once to see which places it comes by, then each fault alone with the tests that do. What none of them
finds is printed and written to build/faults/survivors.txt: either a test is missing, or the fault changes nothing that
anybody could see. Needs python3-clang.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import points  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
FIRST = 12  # tests tried at first; most faults are found by them
AT_ONCE = 60  # tests of one program in one run
SUFFIXES = {".cpp", ".h", ".cu", ".cuh"}


class Test:
    def __init__(self, found):
        properties = {p["name"]: p["value"] for p in found.get("properties", [])}
        self.name, self.command = found["name"], found.get("command") or []
        self.labels, self.alone = properties.get("LABELS", []), properties.get("RUN_SERIAL", False)
        self.folder = properties.get("WORKING_DIRECTORY", ".")
        self.environment = dict(x.split("=", 1) for x in properties.get("ENVIRONMENT", []))
        self.skipped = properties.get("SKIP_RETURN_CODE")
        self.seconds, self.reached = 0.0, set()
        filters = [a for a in self.command[1:] if a.startswith("--gtest_filter=")]
        self.filter = filters[0].split("=", 1)[1] if filters else None


def run(command, folder, environment, limit):
    """(exit status, or None where the limit passed, seconds)"""
    begin = time.time()
    process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        status = process.wait(limit)
    except subprocess.TimeoutExpired:
        status = None
    try:
        os.killpg(process.pid, 9)
    except ProcessLookupError:
        pass
    process.wait()
    return status, time.time() - begin


def copy_sources(root, tree):
    """What git knows of or would add, changed files only, so that a second hunt builds little."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root, check=True, capture_output=True).stdout
    names = {n for n in listed.decode().split("\0") if n and (root / n).is_file()}
    for old in tree.rglob("*"):
        relative = str(old.relative_to(tree))
        if old.is_file() and relative not in names and not relative.startswith("build/"):
            old.unlink()
    for name in names:
        source, copy = root / name, tree / name
        if source.is_symlink():
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.unlink(missing_ok=True)
            copy.symlink_to(os.readlink(source))
        else:
            write(copy, source.read_bytes(), source.stat().st_mode)


def write(path, content, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != content:
        path.write_bytes(content)
    path.chmod(mode & 0o777)


def configure(root, tree, build):
    flags = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS=-w", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    if (root / "build/xgrammar/stamp").exists():
        flags.append(f"-DTESSERA_XGRAMMAR_SOURCE={root / 'build/xgrammar'}")
    subprocess.run(["cmake", "-S", tree, "-B", build, "-G", "Ninja", *flags], check=True, stdout=subprocess.DEVNULL)


def find_points(root, tree, build, chosen, share):
    for name in chosen:
        if not (tree / name).exists():
            raise SystemExit(f"{root / name} is not there")
    commands = points.read_commands(build)
    compiled = {e["file"] for e in commands}
    files = []
    for path in (tree / name for name in chosen):
        files += sorted(f for f in path.iterdir() if f.suffix in SUFFIXES and (f.suffix != ".cu" or str(f) in compiled)) if path.is_dir() else [path]
    found = []
    for file in files:
        found += points.points(str(file), points.flags_of(commands, points.reader_of(str(file)), tree, build))
    order = random.Random(1)
    return dict(enumerate(p for p in found if order.random() < share))


def build_planted(tree, build, targets, numbered):
    """Plants the faults and builds; those that do not compile leave `numbered`."""
    originals = {f: pathlib.Path(f).read_bytes() for f in {p.file for p in numbered.values()}}
    place = re.compile(r"([^:\s]+):(\d+):\d+: +(?:(?:fatal |internal compiler )?error|required from|note: )")
    while True:
        for file, source in originals.items():
            here = {n: p for n, p in numbered.items() if p.file == file}
            write(pathlib.Path(file), points.planted(source, here, HERE / "fault.h") if here else source)
        made = subprocess.run(["cmake", "--build", str(build), "--", "-k", "0", *targets], capture_output=True, text=True)
        if made.returncode == 0:
            return
        bad = collections.defaultdict(set)
        for file, line in place.findall(made.stdout):
            bad[str((build / file).resolve())].add(int(line))
        broken = [n for n, p in numbered.items() if bad[p.file] & set(range(p.line, p.line + 1 + originals[p.file][p.begin:p.end].count(b"\n")))]
        if not broken:
            print(made.stdout[-4000:], file=sys.stderr)
            raise SystemExit("the build fails, and not for a planted fault")
        for n in broken:
            del numbered[n]
        print(f"{len(broken)} do not compile, {len(numbered)} are left", flush=True)


def tests_of(build, pattern, targets):
    listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, check=True, capture_output=True, text=True).stdout
    tests = [Test(t) for t in json.loads(listed)["tests"]]
    return [t for t in tests if t.command and not {"slow", "gpu"} & set(t.labels) and not t.name.endswith("_NOT_BUILT") and re.search(pattern, t.name)
            and (not targets or pathlib.Path(t.command[0]).name in targets)]


def look_where(tests, count, jobs):
    """Runs each test without a fault: its time, and the places that it comes by. Those that fail are left out."""
    def one(test):
        with tempfile.NamedTemporaryFile() as file:
            file.truncate(max(1, count))
            status, test.seconds = run(test.command, test.folder, {**test.environment, "FAULT_REACHED": file.name}, 300)
            reached = pathlib.Path(file.name).read_bytes()
        test.reached = {n for n, byte in enumerate(reached) if byte}
        return status == 0 or status == test.skipped
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        together = [t for t in tests if not t.alone]
        left = [t for t, passed in zip(together, pool.map(one, together)) if passed]
    left += [t for t in tests if t.alone and one(t)]
    if len(left) < len(tests):
        print(f"left out, since they fail without a fault: {', '.join(sorted({t.name for t in tests} - {t.name for t in left}))[:2000]}", flush=True)
    return left


def commands_of(tests):
    """(command, folder, environment, seconds without a fault), tests of one GoogleTest program together."""
    alike = collections.defaultdict(list)
    for t in tests:
        alike[(t.command[0], t.folder, tuple(t.environment.items())) if t.filter else (t.name,)].append(t)
    for group in alike.values():
        first = group[0]
        if not first.filter:
            yield first.command, first.folder, first.environment, first.seconds
            continue
        for i in range(0, len(group), AT_ONCE):
            some = group[i:i + AT_ONCE]
            yield ([first.command[0], "--gtest_fail_fast", "--gtest_also_run_disabled_tests", "--gtest_filter=" + ":".join(t.filter for t in some)],
                   first.folder, first.environment, sum(t.seconds for t in some))


def found_by(number, tests, most):
    """How it was found, or None. Tests that reach it, quick ones that reach little else first, for at most so many seconds."""
    near = sorted((t for t in tests if number in t.reached), key=lambda t: t.seconds * len(t.reached))
    spent = 0.0
    for some in (near[:FIRST], near[FIRST:]):
        for command, folder, environment, usual in commands_of(some):
            if spent > most:
                return None
            status, seconds = run(command, folder, {**environment, "FAULT": str(number)}, 20 + 10 * usual)
            spent += seconds
            if status is None:
                return "hangs"
            if status != 0:
                return "fails"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("where", nargs="+", help="folders or sources")
    parser.add_argument("--share", type=float, default=1.0, help="of the faults (default: 1)")
    parser.add_argument("--tests", default="", help="a regular expression for names of tests")
    parser.add_argument("--targets", nargs="+", default=[], help="programs to build and to run tests of (default: all)")
    parser.add_argument("--seconds", type=float, default=60, help="of tests for one fault, at most")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--source", default=str(HERE.parent.parent), help="the project (default: this one)")
    arguments = parser.parse_args()
    root = pathlib.Path(arguments.source).resolve()
    work = root / "build/faults"
    tree, build = work / "tree", work / "build"
    copy_sources(root, tree)
    configure(root, tree, build)
    numbered = find_points(root, tree, build, arguments.where, arguments.share)
    count = len(numbered)
    print(f"{count} places for a fault", flush=True)
    build_planted(tree, build, arguments.targets, numbered)
    tests = look_where(tests_of(build, arguments.tests, arguments.targets), count, arguments.jobs)
    reached = set().union(*(t.reached for t in tests)) & numbered.keys() if tests else set()
    print(f"{len(numbered)} faults compile, {len(reached)} of their places are reached by {len(tests)} tests", flush=True)
    how = {}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for n, result in zip(sorted(reached), pool.map(lambda n: found_by(n, tests, arguments.seconds), sorted(reached))):
            how[n] = result
            if result is None:
                print(f"not found: {shown(numbered[n], tree)}", flush=True)
    survivors = [n for n in sorted(reached) if how[n] is None]
    lines = [shown(numbered[n], tree) for n in survivors]
    lines += [f"{shown(numbered[n], tree)} (no test comes by)" for n in sorted(numbered.keys() - reached)]
    (work / "survivors.txt").write_text("".join(line + "\n" for line in lines))
    print(f"{len(numbered)} faults: {len(reached) - len(survivors)} found ({sum(h == 'hangs' for h in how.values())} by hanging), "
          f"{len(survivors)} not, {len(numbered) - len(reached)} where no test comes by; {work / 'survivors.txt'}")


def shown(point, tree):
    return f"{pathlib.Path(point.file).relative_to(tree)}:{point.line}: {point.what}"


if __name__ == "__main__":
    main()
