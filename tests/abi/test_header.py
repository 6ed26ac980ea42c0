"""The C header against the record of the C interface, checked by the compilers themselves.

Layouts and sizes are those of 64-bit Linux (LP64). The same assertions are compiled as C11 and as C++11: C treats an
enum and its integer type as compatible, so only C++ tells `MtmlReturn` from `unsigned int` in a prototype.
"""

import json
import os
import re
import shlex
import shutil
import subprocess

import pytest
import simulated

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
HEADER = os.path.join(ROOT, "mtml_2.2.0.h")

with open(os.path.join(ROOT, "facts", "mtml_api.json"), encoding="utf-8") as _file:
    API = json.load(_file)
DECLARED = {name: function for name, function in API["functions"].items() if function["since"] != "undocumented"}

COMPILERS = {
    "c": shlex.split(os.environ.get("CC", "cc")) + ["-x", "c", "-std=c11"],
    "c++": shlex.split(os.environ.get("CXX", "g++")) + ["-x", "c++", "-std=c++11"],
}
STRICT = ["-Wall", "-Wextra", "-pedantic", "-I", ROOT]

PREAMBLE = """\
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "mtml_2.2.0.h"
#ifdef __cplusplus
#include <type_traits>
#define CHECK(...) static_assert(__VA_ARGS__, #__VA_ARGS__)
#define HAS_TYPE(expression, ...) std::is_same<decltype(expression), __VA_ARGS__>::value
#define IS_SIGNED(T) std::is_signed<std::underlying_type<T>::type>::value
#define ALIGNMENT(T) alignof(T)
#else
#define CHECK(...) _Static_assert(__VA_ARGS__, #__VA_ARGS__)
#define HAS_TYPE(expression, ...) _Generic((expression), __VA_ARGS__: 1, default: 0)
#define IS_SIGNED(T) ((long long)(T)-1 < 0)
#define ALIGNMENT(T) _Alignof(T)
#endif
"""


@pytest.fixture(params=sorted(COMPILERS))
def compile_source(request, tmp_path):
    """Compiles C or C++ source against the header; returns the finished compiler process."""
    command = COMPILERS[request.param]
    if shutil.which(command[0]) is None:
        assert request.param == "c++", "no C compiler: install one, or name it in CC"
        pytest.skip("no C++ compiler %r; the same assertions run as C" % command[0])

    def run(source, *options):
        path = tmp_path / "source"
        path.write_text(PREAMBLE + source, encoding="utf-8")
        return simulated.run(command + STRICT + list(options) + [str(path)], cwd=str(tmp_path))

    return run


def assert_compiles(compile_source, checks):
    assert checks
    result = compile_source(
        "".join("CHECK(%s);\n" % check for check in checks), "-DMTML_NO_DEPRECATED", "-fsyntax-only"
    )
    assert result.returncode == 0, result.stderr


def pointer_to(field):
    """The C spelling of a pointer to a struct's field."""
    ctype = field["ctype"]
    if "(*)" in ctype:
        return ctype.replace("(*)", "(**)")
    return "%s (*)[%d]" % (ctype, field["count"]) if "count" in field else ctype + " *"


def leaves(fields, prefix=""):
    """(dotted name, absolute offset, field) of every field that is no nested struct."""
    for field in fields:
        name = prefix + field["name"]
        if "fields" in field:
            yield from leaves(field["fields"], name + ".")
        else:
            yield name, field.get("abs_offset", field["offset"]), field


def preprocessed(*options):
    command = COMPILERS["c"] + ["-E", *options, HEADER]
    return subprocess.run(command, stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout


def test_constants(compile_source):
    checks = ["%s == %d" % item for item in API["constants"].items() if not isinstance(item[1], str)]
    checks += ["sizeof(%s) == %d" % (n, len(v) + 1) for n, v in API["constants"].items() if isinstance(v, str)]
    assert_compiles(compile_source, checks)


def test_enum_values(compile_source):
    checks = ["(long)%s == %dL" % item for values in API["enums"].values() for item in values.items()]
    assert len(checks) >= 106
    assert_compiles(compile_source, checks)


def test_enum_types(compile_source):
    checks = []
    for name, facts in API["enum_types"].items():
        checks.append("sizeof(%s) == %d" % (name, facts["size"]))
        checks.append("%sIS_SIGNED(%s)" % ("" if facts["signed"] else "!", name))
    assert_compiles(compile_source, checks)


def test_struct_layouts(compile_source):
    checks = []
    for struct, facts in API["structs"].items():
        checks.append("sizeof(%s) == %d" % (struct, facts["size"]))
        checks.append("ALIGNMENT(%s) == %d" % (struct, facts["align"]))
        for name, offset, field in leaves(facts["fields"]):
            if "bit_width" in field:
                continue
            member = "((%s *)0)->%s" % (struct, name)
            checks.append("offsetof(%s, %s) == %d" % (struct, name, offset))
            checks.append("sizeof(%s) == %d" % (member, field["size"]))
            checks.append("HAS_TYPE(&%s, %s)" % (member, pointer_to(field)))
        for field in facts["fields"]:
            if "fields" in field:
                checks.append("offsetof(%s, %s) == %d" % (struct, field["name"], field["offset"]))
                checks.append("sizeof(((%s *)0)->%s) == %d" % (struct, field["name"], field["size"]))
    assert_compiles(compile_source, checks)


def test_prototypes(compile_source):
    checks = []
    for name, facts in DECLARED.items():
        parameters = ", ".join(parameter["ctype"] for parameter in facts["params"])
        checks.append("HAS_TYPE(&%s, %s (*)(%s))" % (name, facts["returns"], parameters))
    assert len(checks) >= 116
    assert_compiles(compile_source, checks)


def test_bit_fields_and_texts(compile_source, tmp_path):
    """What no constant expression can tell: the bits that a bit-field occupies, the characters of a constant."""
    body = []
    for struct, facts in API["structs"].items():
        for field in facts["fields"]:
            if "bit_width" not in field:
                continue
            body.append(
                "{ %(struct)s value; unsigned int words[sizeof value / 4]; memset(&value, 0, sizeof value);"
                " value.%(name)s = ~0u & %(ones)su; memcpy(words, &value, sizeof value);"
                ' printf("%(struct)s.%(name)s 0x%%08x\\n", words[%(word)d]); words[%(word)d] = 0;'
                ' for (unsigned int i = 0; i < sizeof value / 4; i++) if (words[i]) puts("%(name)s spills"); }\n'
                % {
                    "struct": struct,
                    "name": field["name"],
                    "ones": hex((1 << field["bit_width"]) - 1),
                    "word": field["offset"] // 4,
                }
            )
    texts = {name: value for name, value in API["constants"].items() if isinstance(value, str)}
    body += ['printf("%s %%s\\n", %s);\n' % (name, name) for name in texts]
    result = compile_source("int main(void) {\n%sreturn 0;\n}\n" % "".join(body), "-o", "program")
    assert result.returncode == 0, result.stderr
    printed = simulated.run([str(tmp_path / "program")], check=True).stdout.splitlines()
    expected = [
        "%s.%s %s" % (struct, field["name"], field["word_mask"])
        for struct, facts in API["structs"].items()
        for field in facts["fields"]
        if "bit_width" in field
    ]
    assert printed == expected + ["%s %s" % item for item in texts.items()]


def test_deprecation_marks(compile_source):
    body = "".join("(void)&%s;\n" % name for name in DECLARED)
    source = "void use(void);\nvoid use(void) {\n%s}\n" % body
    marked = compile_source(source, "-Wno-error", "-fsyntax-only")
    assert marked.returncode == 0, marked.stderr
    warned = set(re.findall(r"(mtml\w+).{0,60}? is deprecated", marked.stderr))
    assert warned == {name for name, facts in DECLARED.items() if facts.get("deprecated")}
    silenced = compile_source(source, "-DMTML_NO_DEPRECATED", "-fsyntax-only")
    assert (silenced.returncode, silenced.stderr) == (0, "")


def test_header_declares_nothing_else():
    """Names that the record does not have would pass every assertion above."""
    macros = set(re.findall(r"#define ((?:MTML|mtml|Mtml)\w+)", preprocessed("-dM")))
    assert macros == set(API["constants"]) | {"MTML_2_2_0_H", "MTML_API", "MTML_DEPRECATED"}

    text = preprocessed("-P", "-DMTML_NO_DEPRECATED")
    enums = {name: re.findall(r"(\w+) = ", body) for body, name in re.findall(r"typedef enum \{([^}]*)\} (\w+);", text)}
    assert enums == {name: list(values) for name, values in API["enums"].items()}
    assert re.findall(r"typedef struct (\w+) \1;", text) == list(API["opaque"])
    structs = [name for name in re.findall(r"\} (Mtml\w+);", text) if name not in enums]
    assert structs == list(API["structs"])


def test_functions_stand_in_order_with_their_parameter_names():
    text = re.sub(r"__attribute__\(\(.*?\)\)\)", "", preprocessed("-P", "-DMTML_NO_DEPRECATED"))
    declared = [
        (name, [re.search(r"\w+$", parameter).group() for parameter in parameters.split(",")])
        for name, parameters in re.findall(r"\b(mtml\w+)\(([^)]*)\)", text)
    ]
    recorded = [(name, [p["name"] for p in facts["params"]]) for name, facts in DECLARED.items()]
    assert declared == recorded


def comment_before(name):
    with open(HEADER, encoding="utf-8") as file:
        text = file.read()
    match = re.search(r"/\*((?:(?!\*/).)*)\*/\n[^;/]*\b%s\(" % name, text, re.DOTALL)
    assert match, "no comment directly before " + name
    return re.sub(r"\s*\n \*\s*", "\n", match.group(1)).strip()


@pytest.mark.parametrize("name", [name for name in DECLARED if name != "mtmlErrorString"])
def test_comments_tell_errors_and_conditions(name):
    facts = API["functions"][name]
    comment = comment_before(name)
    listed = re.search(r"^Errors: ([^.]*)\.$", comment, re.MULTILINE)
    errors = set(re.findall(r"\w+", listed.group(1))) if listed else set()
    shared = {"MTML_SUCCESS", "MTML_ERROR_UNKNOWN"}
    shared |= set() if name == "mtmlLogGetConfiguration" else {"MTML_ERROR_INVALID_ARGUMENT"}
    assert {"MTML_ERROR_" + error for error in errors} | shared == set(facts["errors"])

    comment = comment.replace("\n", " ")
    assert ("linux only" in comment.lower()) == bool(facts.get("linux_only"))
    generation = re.search(r"[Ff]rom ([A-Z]+) on\b", comment)
    assert (generation.group(1) if generation else None) == facts.get("min_generation")
