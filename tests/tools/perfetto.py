# SPDX-License-Identifier: MIT
"""Reads a trace of Perfetto's, as its trace processor does.

protoc(1) decodes it, by perfetto.proto. What the decoded text does not say, the
rules of the format do: numbers refer to definitions that stand before, times are
differences, the end of a slice belongs to the innermost open slice of its track.
Breaking one of the rules is a ValueError.
"""

import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
BEGIN, END, INSTANT = 1, 2, 3
CLEARED, NEEDS_STATE = 1, 2


def decode(path):
    """Returns the messages as dictionaries of lists."""
    with open(path, "rb") as file:
        text = subprocess.run(["protoc", "-I", HERE, "--decode=Trace", "perfetto.proto"], stdin=file,
                              capture_output=True, check=True).stdout.decode("utf-8")
    top = {}
    stack = [top]
    for line in text.splitlines():
        line = line.strip()
        if line == "}":
            stack.pop()
        elif line.endswith(" {"):
            stack.append({})
            stack[-2].setdefault(line[:-2], []).append(stack[-1])
        else:
            key, value = line.split(": ", 1)
            if re.match(r"\d+$", key):
                raise ValueError("unknown field %s" % line)
            stack[-1].setdefault(key, []).append(scalar(value))
    return top


def scalar(value):
    if value in ("true", "false"):
        return value == "true"
    if not value.startswith('"'):
        return int(value) if re.match(r"-?\d+$", value) else float(value)
    text = re.sub(rb"\\([0-7]{3}|.)", lambda m: bytes([int(m[1], 8)]) if len(m[1]) == 3 else
                  {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(m[1], m[1]), value[1:-1].encode())
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text


class Reader:
    """slices: (thread, name) ... in order of begin; threads: by uuid; names of processes by pid."""

    def __init__(self, path):
        self.slices, self.instants = [], []
        self.threads, self.processes = {}, {}
        self.defined = {}       # (kind, iid): the definition
        self.open = {}          # by track
        self.clock = None
        for packet in decode(path)["packet"]:
            self.packet(packet)

    def packet(self, packet):
        flags = packet.get("sequence_flags", [0])[0]
        if packet["trusted_packet_sequence_id"] != [1]:
            raise ValueError("another sequence")
        if flags & CLEARED:
            self.defined.clear()
        for snapshot in packet.get("clock_snapshot", []):
            clocks = {c["clock_id"][0]: c for c in snapshot["clocks"]}
            if snapshot["primary_trace_clock"] != [1] or clocks[64]["is_incremental"] != [True]:
                raise ValueError("clocks %s" % snapshot)
            self.clock = clocks[1]["timestamp"][0] - clocks[64]["timestamp"][0]
        for data in packet.get("interned_data", []):
            for kind, items in data.items():
                for item in items:
                    key = (kind, item["iid"][0])
                    if key in self.defined or not key[1]:
                        raise ValueError("%s defined again" % (key,))
                    self.defined[key] = item
        for track in packet.get("track_descriptor", []):
            for process in track.get("process", []):
                self.processes[process["pid"][0]] = process["process_name"][0]
            for thread in track.get("thread", []):
                self.threads[track["uuid"][0]] = (thread["pid"][0], thread["tid"][0], thread["thread_name"][0])
            for name in track.get("name", []):
                self.threads[track["uuid"][0]] = name
        for event in packet.get("track_event", []):
            if not flags & NEEDS_STATE:
                raise ValueError("the packet does not say that it needs definitions")
            self.clock += packet["timestamp"][0]
            self.event(event)

    def get(self, kind, iid, member):
        return self.defined[kind, iid][member][0]

    def value(self, annotation):
        for key, values in annotation.items():
            if key == "pointer_value":
                return hex(values[0])
            if key == "string_value_iid":
                return self.get("debug_annotation_string_values", values[0], "str")
            if key == "array_values":
                return [self.value(v) for v in values]
            if key == "dict_entries":
                return self.arguments(values)
            if key.endswith("_value"):
                return values[0]
        return None

    def arguments(self, annotations):
        return {self.get("debug_annotation_names", a["name_iid"][0], "name"): self.value(a) for a in annotations}

    def frame(self, iid):
        frame = self.defined["frames", iid]
        mapping = self.defined["mappings", frame["mapping_id"][0]] if "mapping_id" in frame else {}
        build_id = self.get("build_ids", mapping["build_id"][0], "str") if "build_id" in mapping else b""
        build_id = build_id.encode() if isinstance(build_id, str) else build_id
        return {"name": self.get("function_names", frame["function_name_id"][0], "str"),
                "object": self.get("mapping_paths", mapping["path_string_ids"][0], "str") if mapping else "",
                "build_id": build_id.hex(), "address": frame["rel_pc"][0],
                "line": frame.get("line_number", [0])[0],
                "file": self.get("source_paths", frame["source_path_iid"][0], "str")
                        if "source_path_iid" in frame else ""}

    def event(self, event):
        thread = self.threads[event["track_uuid"][0]]
        stack = self.open.setdefault(event["track_uuid"][0], [])
        args = self.arguments(event.get("debug_annotations", []))
        if event["type"][0] == END:
            found = stack.pop()
            found["end"] = self.clock
            found["args"].update(args)
            return
        frames = self.defined["callstacks", event["callstack_iid"][0]]["frame_ids"] if "callstack_iid" in event else []
        found = {"thread": thread, "name": self.get("event_names", event["name_iid"][0], "name"),
                 "category": self.get("event_categories", event["category_iids"][0], "name"),
                 "begin": self.clock, "end": None, "args": args, "depth": len(stack),
                 "frames": [self.frame(f) for f in reversed(frames)],
                 "flows_out": event.get("flow_ids", []), "flows_in": event.get("terminating_flow_ids", [])}
        if event["type"][0] == BEGIN:
            stack.append(found)
            self.slices.append(found)
        else:
            self.instants.append(found)


def trace_processor():
    """Returns the path of Perfetto's own reader, if this machine has it."""
    return os.environ.get("TRACE_PROCESSOR") or shutil.which("trace_processor_shell")


def query(path, sql, work):
    """Returns the rows that Perfetto's own reader finds, as tuples of text."""
    file = os.path.join(work, "query.sql")
    with open(file, "w") as out:
        out.write(sql)
    done = subprocess.run([trace_processor(), "-q", file, path], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(done.stderr)
    return [tuple(cell.strip('"') for cell in line.split(",")) for line in done.stdout.splitlines()[1:]]
