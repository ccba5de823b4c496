# SPDX-License-Identifier: MIT
"""Writes a small trace in the format of LTTng's kernel tracer (CTF 1.8).

The caller decides about every event and its time. (The tests in the VM use
traces that a real kernel records.) The trace has one stream for each processor, with
an empty packet and packets with all events, and such streams for the events without
contexts. Events must be added in order of time.
"""

import bisect
import os
import struct
import uuid

MAGIC = 0xC1FC1FC1
METADATA = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace {
	major = 1; minor = 8; uuid = "%(uuid)s"; byte_order = le;
	packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id;
		uint64_t stream_instance_id; };
};
env { hostname = "%(host)s"; domain = "kernel"; tracer_name = "lttng-modules"; };
clock { name = "monotonic"; %(boot)sfreq = 1000000000; offset_s = %(seconds)d; };
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := stamp_t;
"""
STREAM = """stream {
	id = %(stream)d;
	packet.context := struct { stamp_t timestamp_begin; stamp_t timestamp_end;
		uint64_t content_size; uint64_t packet_size; uint64_t packet_seq_num;
		uint64_t events_discarded;
		uint32_t cpu_id; };
	event.header := struct { uint16_t id; stamp_t timestamp; };
%(contexts)s};
"""
STACK = "uint32_t _%(name)s_length; uint64_t %(name)s[_%(name)s_length];"
S32 = "integer { size = 32; align = 8; signed = true; }"
S64 = "integer { size = 64; align = 8; signed = true; }"
U64 = "integer { size = 64; align = 8; signed = false; base = 16; }"
DECIMAL = "integer { size = 64; align = 8; signed = false; }"
X32 = "integer { size = 32; align = 8; signed = false; base = 16; }"
U8 = "integer { size = 8; align = 8; signed = false; }"
U16 = "integer { size = 16; align = 8; signed = false; }"
OCTAL = "integer { size = 16; align = 8; signed = false; base = 8; }"
XS32 = "integer { size = 32; align = 8; signed = true; base = 16; }"
LABELS = "{ MINUS = -1, ONE = 1, \"a b\" = 2, FEW = 0 ... 3 }"
FLOAT = "floating_point { exp_dig = %d; mant_dig = %d; align = 8; }"
# Sequences; their length is a field before them, as in LTTng.
LISTS = {"u64s": (U64, "Q"), "u8s": (U8, "B")}
STATES = "{ sleeping = 0, uninterruptible = 1, stopped = 2, traced = 3, frozen = 4 }"
KINDS = {"u8": (U8, "<B"), "state": ("enum : %s %s" % (U8, STATES), "<B"), "u16": (U16, "<H"), "x32": (X32, "<I"), "s32": (S32, "<i"), "s64": (S64, "<q"), "u64": (U64, "<Q"),
         "string": ("string", None), "decimal": (DECIMAL, "<Q"), "enum": ("enum : %s { ONE = 1 }" % DECIMAL, "<Q"),
         "octal": (OCTAL, "<H"), "xs32": (XS32, "<i"), "labels": ("enum : %s %s" % (S32, LABELS), "<i"),
         "float": (FLOAT % (8, 24), "<f"), "double": (FLOAT % (11, 53), "<d")}

WAKING = [("comm", "string"), ("tid", "s32")]
FUTEX = [("uaddr", "u64"), ("op", "s32"), ("val", "s32")]
MAP = [("tgid", "s32"), ("vtgid", "s32"), ("start", "u64"), ("end", "u64"), ("offset", "u64"),
       ("bias", "u64"), ("ino", "u64"), ("build_id", "string"), ("path", "string")]
SWITCH = [("prev_tid", "s32"), ("prev_state", "s64"), ("next_tid", "s32")]
RETURN = [("ret", "s64")]


WHOLE = [("tgid", "s32"), ("tid", "s32"), ("vtid", "s32"), ("syscall", "s32"), ("reason", "s32"),
         ("stack", "u64"), ("base", "s32"), ("shared", "u16"), ("addresses", "u64s"), ("trust", "u8s")]
# With the thread's name, as kunwind record's traces have it.
NAMED = [*WHOLE, ("comm", "string")]
# "clock" is a word of the metadata's language; LTTng writes "_" before all names.
SAMPLE = [("tgid", "s32"), ("tid", "s32"), ("vtid", "s32"), ("comm", "string"), ("period", "u64"),
          ("_clock", "s32"), ("syscall", "s32"), ("reason", "s32"), ("stack", "u64"), ("base", "s32"),
          ("shared", "u16"), ("addresses", "u64s"), ("trust", "u8s"), ("callstack_kernel", "u64s")]

# Contexts that are an id.
IDS = ("kunwind_stack", "kunwind_kernel_stack")


def declaration(kind, field):
    if kind not in LISTS:
        return "%s %s;" % (KINDS[kind][0], field)
    return "uint16_t __%s_length; %s %s[__%s_length];" % (field, LISTS[kind][0], field, field)


class Trace:
    """A trace in memory. Times of events are nanoseconds after seconds.

    contexts: those of the events; any of callstack_user, callstack_kernel, pid,
    tid, vpid, vtid and procname. boot: the boot id, which LTTng writes as the
    clock's uuid; or None.
    """

    def __init__(self, host="testhost", seconds=1700000000,
                 contexts=("callstack_user", "pid", "tid", "procname"), boot=None):
        self.host, self.seconds, self.contexts, self.boot = host, seconds, contexts, boot
        self.uuid = uuid.uuid4()
        self.classes = {}
        self.events, self.times = [], []
        # By number of the stream's class and processor: events and their times.
        self.streams = {(0, 0): (self.events, self.times)}

    def add(self, time, name, thread, stack=(), fields=(), values=(), kernel=(), cpu=0):
        """Appends an event.

        time: nanoseconds; thread: (pid, tid, comm), None: the event has no
        contexts; stack: addresses, innermost first, or for the context kunwind_stack its
        value; fields: (name, kind)..., those
        of the first event with this name count; values: one for each field; kernel: the
        same of the kernel stack, for callstack_kernel or kunwind_kernel_stack.
        """
        stream = 0 if thread else 1
        number = self.classes.setdefault((name, stream), (len(self.classes), tuple(fields)))[0]
        pid, tid, comm = thread or (0, 0, "")
        out = struct.pack("<HQ", number, time)
        for context in self.contexts if thread else ():
            if context.startswith("callstack_"):
                # LTTng ends a stack with ULONG_MAX
                addresses = kernel if context == "callstack_kernel" else stack
                addresses = [*addresses, (1 << 64) - 1] if addresses else []
                out += struct.pack("<I%dQ" % len(addresses), len(addresses), *addresses)
            elif context in IDS:
                out += struct.pack("<Q", kernel or 0 if context == "kunwind_kernel_stack" else stack)
            elif context == "procname":
                out += comm.encode("utf-8", "surrogateescape") + b"\0"
            else:
                out += struct.pack("<i", pid if context.endswith("pid") else tid)
        for (_, kind), value in zip(fields, values):
            form = KINDS[kind][1] if kind in KINDS else None
            if kind in LISTS:
                out += struct.pack("<H%d%s" % (len(value), LISTS[kind][1]), len(value), *value)
            elif form:
                out += struct.pack(form, value)
            else:
                out += value.encode("utf-8", "surrogateescape") + b"\0"
        events, times = self.streams.setdefault((stream, cpu), ([], []))
        events.append(out)
        times.append(time)

    def write(self, directory, lost=0, packets=1):
        """Writes the trace to a new directory.

        lost: number of discarded events; packets: number of packets for the events.
        Returns the offsets of all packets in the file channel_0, and its size.
        """
        os.makedirs(directory)
        self.write_metadata(directory, len(self.classes))
        offsets = {key: self.write_stream(directory, key, lost if key == (0, 0) else 0, packets)
                   for key in self.streams}
        return offsets[0, 0]

    def rotate(self, directory, times, lost=0):
        """Writes the trace as LTTng does if the session is rotated at these times, and destroyed.

        Each chunk is a trace of its own, with the same uuid. It has the metadata that were known at
        its end, and counts packets and lost events on.
        """
        packets = dict.fromkeys(self.streams, 0)
        for number, (begin, end) in enumerate(zip([0, *times], [*times, 1 << 63])):
            chunk = os.path.join(directory, "archives", "20231114T2213%02d+0000-20231114T2213%02d+0000-%d" %
                                 (20 + number, 21 + number, number), "kernel")
            os.makedirs(chunk)
            known = 0
            for key, (events, at) in self.streams.items():
                span = bisect.bisect_left(at, begin), bisect.bisect_left(at, end)
                packets[key] += len(self.write_stream(chunk, key, lost if key == (0, 0) else 0, 1, span, packets[key], begin)) - 1
                known = max([known, *(struct.unpack_from("<H", event)[0] + 1 for event in events[:span[1]])])
            self.write_metadata(chunk, known)

    def write_metadata(self, directory, classes):
        """Writes the metadata with the first classes of events."""
        kinds = {name: STACK % {"name": name} for name in ("callstack_user", "callstack_kernel")}
        kinds["procname"] = "string procname;"
        kinds.update({name: "%s %s;" % (DECIMAL, name) for name in IDS})
        contexts = " ".join(kinds.get(c, "%s %s;" % (S32, c)) for c in self.contexts)
        text = METADATA % {"uuid": self.uuid, "host": self.host, "seconds": self.seconds,
                           "boot": 'uuid = "%s"; ' % self.boot if self.boot else ""}
        for stream in sorted({number for number, _ in self.streams}):
            text += STREAM % {"stream": stream, "contexts":
                              "" if stream else "\tevent.context := struct { %s };\n" % contexts}
        for (name, stream), (number, fields) in list(self.classes.items())[:classes]:
            body = " ".join(declaration(kind, field) for field, kind in fields)
            text += 'event { name = "%s"; id = %d; stream_id = %d; fields := struct { %s }; };\n' % (
                name, number, stream, body)
        with open(os.path.join(directory, "metadata"), "w", errors="surrogateescape") as file:
            file.write(text)

    def write_stream(self, directory, key, lost, packets, span=(0, None), first=0, begin=None):
        """Writes the file of one stream; returns the offsets of its packets, and its size.

        span: range of its events; first: number of the first packet; begin: time of packets without events.
        """
        (stream, cpu), (events, times) = key, [part[slice(*span)] for part in self.streams[key]]
        name = "%s_%d" % (("channel", "interrupts")[stream], cpu)
        with open(os.path.join(directory, name), "wb") as file:
            # The count of lost events must grow from one packet to the next:
            # the first packet is empty and has the count 0.
            share = -(-len(events) // packets) or 1
            cuts = [(0, 0)] + [(at, at + share) for at in range(0, len(events), share)]
            offsets = []
            for number, (start, end) in enumerate(cuts):
                packet = b"".join(events[start:end])
                inside = times[start:end] or (times[:1] if begin is None else [begin])
                size = 8 * (32 + 52 + len(packet))
                offsets.append(file.tell())
                file.write(struct.pack("<I", MAGIC) + self.uuid.bytes + struct.pack("<IQ", stream, cpu))
                file.write(struct.pack("<QQQQQQI", inside[0], inside[-1], size, size, first + number,
                                       lost if first + number else 0, cpu))
                file.write(packet)
            return offsets + [file.tell()]
