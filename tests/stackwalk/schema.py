# SPDX-License-Identifier: MIT
"""schema.py - the schema of what kunwind stackwalk and stack --json print, after kunwind-json(5)"""

import jsonschema

STRING = {"type": ["string", "null"]}
NUMBER = {"type": ["integer", "null"]}
COUNT = {"type": "integer", "minimum": 0}
FLAG = {"type": "boolean"}
ADDRESS = {"type": "string", "pattern": "^0x[0-9a-f]+$"}
ANY_ADDRESS = {"anyOf": [ADDRESS, {"type": "null"}]}
REASONS = ["complete", "buffer_full", "budget_spent", "no_object", "no_rule", "reg_unknown", "unreadable", "cfa_stuck",
           "bad_address", "corrupt", "not_ready", "no_table", "memory_limit", "kthread", "code_segment", "disabled", "nested"]


def members(required=None, **properties):
    return {"type": "object", "properties": properties, "additionalProperties": False,
            "required": list(properties) if required is None else required}


def many(item):
    return {"type": "array", "items": item}


INLINE = members(function=STRING, file=STRING, line=NUMBER)
FRAME = dict(frame=COUNT, offset=ADDRESS, address=ADDRESS, module=STRING, module_offset=ANY_ADDRESS, function=STRING,
             function_offset=ANY_ADDRESS, file=STRING, line=NUMBER,
             trust={"enum": ["context", "cfi", "signal", "code", "frame_pointer", "scan", "interpreter"]}, stack_pointer=ADDRESS,
             missing_symbols=FLAG, inlines=many(INLINE), why=STRING)
LIVE = dict(taken={"enum": ["asleep", "running", "stopped", None]}, note=STRING,
            kernel={"anyOf": [many({"type": "string"}), {"type": "null"}]})
THREAD = members(["thread_id", "thread_name", "frame_count", "reason", "missing_address", "interpreter", "frames"], **LIVE, thread_id=COUNT, thread_name=STRING, frame_count=COUNT, reason={"enum": REASONS + [None]},
                 missing_address=ANY_ADDRESS, interpreter=STRING,
                 frames=many(members(list(FRAME), registers={"type": "object", "additionalProperties": ADDRESS}, **FRAME)))
MODULE = members(base_addr=ADDRESS, end_addr=ADDRESS, filename=STRING, path=STRING, code_id=STRING, debug_id=STRING,
                 package=STRING, deleted=FLAG, used=FLAG, why=STRING, interpreter=STRING)
REPORT = members(status={"enum": ["OK"]}, format={"enum": ["core", "minidump", "chunk", "process", "report"]}, pid=NUMBER, command=STRING,
                 system_info=members(os={"enum": ["Linux"]}, cpu_arch={"enum": ["amd64", "x86"]}),
                 crash_info=members(type=STRING, address=ANY_ADDRESS, crashing_thread=NUMBER, signal=NUMBER, code=NUMBER),
                 truncated=FLAG, missing_bytes=COUNT, main_module=NUMBER, modules=many(MODULE), thread_count=COUNT,
                 threads=many(THREAD))


def why_invalid(report):
    """Why the report does not follow the schema; None: it does."""
    try:
        jsonschema.validate(report, REPORT)
    except jsonschema.ValidationError as error:
        return "%s at %s" % (error.message[:300], "/".join(map(str, error.absolute_path)))
    return None
