"""Where a fault can be planted in a C++ source, by its syntax tree.

A fault is two texts to insert, so that any number of them stand in one source, each behind its switch (fault.h).
Needs libclang and its Python bindings (python3-clang).
"""

import dataclasses
import json
import pathlib
import re
import shlex

from clang import cindex
from clang.cindex import CursorKind as Kind
from clang.cindex import TypeKind

COMPARISONS = {"<", "<=", ">", ">="}
NEUTRAL = {"+": 0, "-": 0, "*": 1, "/": 1}
BRANCHES = {Kind.IF_STMT, Kind.WHILE_STMT, Kind.CONDITIONAL_OPERATOR}
LEAVING = {Kind.BREAK_STMT, Kind.CONTINUE_STMT}
LOOPS = {Kind.FOR_STMT, Kind.WHILE_STMT, Kind.CXX_FOR_RANGE_STMT}
# What is said to people or kept for speed alone is not what tests are for.
QUIET = re.compile(r"^(std::fflush|spdlog::|.*\b(reserve|shrink_to_fit|prefetch|yield)\()")
NUMBERS = {TypeKind.FLOAT, TypeKind.DOUBLE, TypeKind.INT, TypeKind.UINT, TypeKind.LONG, TypeKind.ULONG, TypeKind.LONGLONG, TypeKind.ULONGLONG, TypeKind.SHORT, TypeKind.USHORT,
           TypeKind.CHAR_S, TypeKind.SCHAR, TypeKind.UCHAR}


@dataclasses.dataclass
class Point:
    file: str
    line: int
    what: str  # what the fault does, for people
    begin: int  # bytes of the source
    end: int
    before: str  # with {} for its number
    after: str


def flags_of(commands, file, tree, build):
    """The compiler's flags for a source: its own, or those of its library's other sources, which may be compiled together
    in a folder of the build that is named like theirs; of a .cuh those of a source beside it."""
    file = pathlib.PurePath(file)

    def library(entry):
        folder = entry["file"].split("/CMakeFiles/")[0]
        return pathlib.PurePath(folder.replace(str(build), str(tree), 1))
    fitting = [e for e in commands if library(e) in (file, *file.parents) or (file.suffix == ".cuh" and library(e).parent == file.parent)]
    if not fitting:
        raise SystemExit(f"{file}: no command of compile_commands.json compiles it or a source of its library")
    words = shlex.split(max(fitting, key=lambda e: (library(e) == file, len(library(e).parts)))["command"])[1:]
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-c", "-include"):
            skip = word != "-c"
        elif not word.endswith((".cpp", ".cxx", ".cu", ".o")):
            kept.append(word)
    return kept


def reader_of(file):
    """The source to parse for a file's tree: itself, or one beside it that includes it, since a .cuh may need what stands before."""
    if not file.endswith(".cuh"):
        return file
    path = pathlib.Path(file)
    for other in sorted(path.parent.glob("*.cu")) + sorted(path.parent.glob("*.cuh")):
        if f"/{path.name}\"" in other.read_text():
            return reader_of(str(other))
    return file


def points(file, flags):
    """Every Point of a source, in its order. The flags are those of its reader_of()."""
    unit = cindex.Index.create().parse(reader_of(file), args=["-x", "c++", *flags], options=cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
    errors = [d for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    if errors:
        print(f"{file} is left out, since libclang says {errors[0].spelling}", flush=True)
        return []
    source = pathlib.Path(file).read_bytes()
    macros = [(c.extent.start.offset, c.extent.end.offset) for c in unit.cursor.get_children()
              if c.kind == Kind.MACRO_INSTANTIATION and c.location.file and c.location.file.name == file]
    out = []

    def text(begin, end):
        return " ".join(source[begin:end].decode().split())

    def add(cursor, what, before, after, begin=None, end=None):
        if begin is None:
            begin, end = cursor.extent.start.offset, cursor.extent.end.offset
        if begin >= end or any(begin < last and first < end for first, last in macros):  # within a macro an end can come first
            return
        out.append(Point(file, cursor.extent.start.line, what, begin, end, before, after))

    def negate(cursor):
        add(cursor, f"the contrary of `{text(cursor.extent.start.offset, cursor.extent.end.offset)}`", "(static_cast<bool>(", ") != planted::on({}))")

    def operator(cursor, left, right):
        between = source[left.extent.end.offset:right.extent.start.offset].decode()
        return between.strip(" \n\t()")

    def binary(cursor):
        left, right = list(cursor.get_children())[:2]
        op = operator(cursor, left, right)
        shown = text(cursor.extent.start.offset, cursor.extent.end.offset)
        if op in COMPARISONS and right.type.get_canonical().kind in NUMBERS:
            add(right, f"`{shown}` with one more on the right", "planted::more({}, ", ")")
            negate(cursor)
        elif op in ("==", "!="):
            negate(cursor)
        elif op in ("&&", "||"):
            for side in (left, right):
                forced = "|| planted::on({})" if op == "&&" else "&& !planted::on({})"
                add(side, f"`{shown}` without `{text(side.extent.start.offset, side.extent.end.offset)}`", "((", f") {forced})")
        elif op in NEUTRAL and cursor.type.get_canonical().kind in NUMBERS:
            add(right, f"`{shown}` without what is right of {op}", "planted::none({}, ", f", {NEUTRAL[op]})")

    def statement(cursor):
        begin, end = cursor.extent.start.offset, cursor.extent.end.offset
        rest = source[end:end + 80]
        closing = len(rest) - len(rest.lstrip())
        if not rest.lstrip().startswith(b";") or QUIET.match(text(begin, end)):
            return
        add(cursor, f"without `{text(begin, end)[:120]}`", "{{ if (!planted::on({})) ", " }}", begin, end + closing + 1)

    def is_constant(cursor, parent):
        """Worked out by the compiler, where no switch is."""
        begin = cursor.extent.start.offset
        return cursor.kind == Kind.VAR_DECL and (parent.kind in (Kind.TRANSLATION_UNIT, Kind.NAMESPACE) or "constexpr" in text(begin, begin + 40).split("=")[0])

    def is_body(cursor, parent):
        if parent.kind in (Kind.COMPOUND_STMT, Kind.DEFAULT_STMT):
            return True
        siblings = list(parent.get_children())
        if parent.kind in LOOPS:
            return cursor == siblings[-1]
        return parent.kind in (Kind.IF_STMT, Kind.CASE_STMT) and cursor != siblings[0]

    def is_statement(cursor):
        return cursor.kind in LEAVING or cursor.kind.is_expression() or (
            cursor.kind == Kind.RETURN_STMT and not list(cursor.get_children()))

    def walk(cursor, parent):
        here = cursor.location.file and cursor.location.file.name == file
        if cursor.kind == Kind.STATIC_ASSERT or cursor.kind.is_attribute() or (here and is_constant(cursor, parent)):
            return
        children = list(cursor.get_children())
        if here:
            if cursor.kind == Kind.BINARY_OPERATOR and len(children) == 2:
                binary(cursor)
            if cursor.kind in BRANCHES and children and children[0].kind not in (Kind.BINARY_OPERATOR, Kind.VAR_DECL, Kind.DECL_STMT):
                negate(children[0])
            if cursor.kind == Kind.RETURN_STMT and children and children[0].type.get_canonical().kind == TypeKind.BOOL and children[0].kind != Kind.BINARY_OPERATOR:
                negate(children[0])
            if cursor.kind == Kind.INTEGER_LITERAL and parent.kind not in (Kind.BINARY_OPERATOR, Kind.CASE_STMT, Kind.ENUM_CONSTANT_DECL, Kind.UNARY_OPERATOR):
                add(cursor, f"{text(cursor.extent.start.offset, cursor.extent.end.offset)} and one more in `{text(parent.extent.start.offset, parent.extent.end.offset)[:120]}`",
                    "planted::more({}, ", ")")
            if is_body(cursor, parent) and is_statement(cursor):
                statement(cursor)
        for child in children:
            walk(child, cursor)

    for top in unit.cursor.get_children():
        if top.location.file and top.location.file.name == file and not top.kind.is_preprocessing():
            walk(top, unit.cursor)
    return out


def planted(source, numbered, header):
    """The source's bytes with the faults of {number: Point} in it."""
    inserts = []
    for number, p in numbered.items():
        size = p.end - p.begin
        inserts.append(((p.begin, 1, -size, number), p.before.format(number)))  # the outer one opens first
        inserts.append(((p.end, 0, size, -number), p.after.format(number)))  # and closes last
    out, at = [f'#include "{header}"\n#line 1\n'.encode()], 0
    for (position, *_), inserted in sorted(inserts, key=lambda x: x[0]):
        out += [source[at:position], inserted.encode()]
        at = position
    return b"".join([*out, source[at:]])


def read_commands(build):
    return json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
