#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests the page of kunwind flamegraph in a browser, on the trace of analyze.py.

Scripts in the page act for a person, and the tests read the page afterwards.
"""

import html.parser
import json
import os
import re
import shutil
import subprocess
import tempfile

import analyze
import ctf
import tap
from analyze import BIAS, run, stack
from tap import check, same

def browser():
    for name in ("chromium-headless-shell", "chromium", "chromium-browser"):
        if shutil.which(name):
            return name
    return None


def dom(page, work, fragment="", script=""):
    """Opens the page in the browser and runs the script, which acts for a person.

    Returns the page afterwards, and the messages of the browser.
    """
    copy = os.path.join(work, "copy.html")
    with open(page) as file:
        text = file.read()
    with open(copy, "w") as file:
        file.write(text.replace("</body>", "<script>%s</script></body>" % script))
    done = subprocess.run([browser(), "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,800",
                           "--virtual-time-budget=4000", "--dump-dom", "file://" + copy + fragment],
                          capture_output=True, text=True, timeout=300)
    return done.stdout, done.stderr


class Frames(html.parser.HTMLParser):
    """The drawn frames: found[name] has title, width, faded and found.

    found: the frame has the colour of search results. If several frames have one
    name, the widest counts.
    """

    def __init__(self, text):
        super().__init__()
        self.found, self.frame, self.in_title = {}, None, False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "g" and "frame" in (values.get("class") or ""):
            self.frame = {"width": float(values["width"]), "faded": "fade" in values["class"], "title": ""}
        elif self.frame is not None and tag == "rect":
            self.frame["found"] = values["fill"] in ("#e600e6", "rgb(230, 0, 230)")
        self.in_title = self.frame is not None and tag == "title"

    def handle_data(self, data):
        if self.in_title:
            self.frame["title"] += data

    def handle_endtag(self, tag):
        self.in_title = False
        if tag == "g" and self.frame is not None:
            name = self.frame["title"].split(" (")[0].split(": ")[0]
            if name not in self.found or self.found[name]["width"] < self.frame["width"]:
                self.found[name] = self.frame
            self.frame = None


def frames(text):
    return Frames(text).found


def marked(text):
    return sorted(name for name, frame in frames(text).items() if frame["found"])


def test_flamegraph(trace, work):
    page = os.path.join(work, "page.html")
    run("flamegraph", "-o", page, "--title", "A <b>title</b>", trace)
    with open(page) as file:
        text = file.read()
    check("page: nothing is loaded from elsewhere", not re.search(r"""(src|href)=["']?(https?:)?//""", text))
    check("page: its policy forbids to load anything", "default-src 'none'" in text)
    check("page: a name cannot end the data element", "<img src=x" not in text)
    if not browser():
        tap.skip("page in a browser", "no chromium-headless-shell")
        return
    shown, errors = dom(page, work)
    check("page: no error in the browser", "CONSOLE" not in errors, errors)
    same("page: the title is text", re.search('<h1 id="title">(.*?)</h1>', shown).group(1),
         "A &lt;b&gt;title&lt;/b&gt;")
    check("page: names the weight that the width shows",
          '<span id="measure">time between entry and exit of system calls</span>' in shown and "It is not CPU time" in shown)
    found = frames(shown)
    check("page: frames with their time", found["all"]["title"] == "all: 12.500 µs, 100.00 %", found)
    check("page: names are text, not elements", "<img src" not in re.sub(r"<script.*?</script>", "", shown, flags=re.S))
    check("page: all functions and system calls are there", {"main", "reader", "opener", "recursive", "futex", "read", "openat"} <= set(found),
          sorted(found))
    # A search typed by the user.
    shown, errors = dom(page, work, script="""
        const box = document.getElementById("search");
        box.value = "READER"; box.dispatchEvent(new Event("input"));""")
    same("search: matching frames are marked", marked(shown), ["reader"])
    same("search: number, time and share of the matching frames", re.search('<span id="found".*?>(.*?)</span>', shown).group(1),
         "2 frames, 6.100 µs, 48.80 %")
    shown, errors = dom(page, work, "#s=%2F%5Eal%2F")
    same("search: the root is not searched", (marked(shown), re.search('<span id="found".*?>(.*?)</span>', shown).group(1)),
         ([], "no match"))
    # A zoom by a click, and its reset.
    click = """
        const frame = [...document.querySelectorAll("g.frame")].find((g) => g.querySelector("title").textContent.startsWith("recursive"));
        frame.dispatchEvent(new MouseEvent("click", { bubbles: true }));"""
    shown, errors = dom(page, work, script=click)
    found = frames(shown)
    check("zoom: the frame is as wide as the drawing", found["recursive"]["width"] > 1000, found)
    check("zoom: its callers are faded", found["main"]["faded"] and not found["recursive"]["faded"], found)
    check("zoom: frames beside it have no width", "reader" not in found or found["reader"]["width"] < 1, found)
    check("zoom: no error in the browser", "CONSOLE" not in errors, errors)
    shown, errors = dom(page, work, script=click + """
        document.getElementById("reset").click();""")
    check("reset: the frame has its width before the zoom", 400 < frames(shown)["recursive"]["width"] < 700, frames(shown))
    # A zoom in a link.
    data = json.loads(re.search('id="data">(.*?)</script>', text).group(1))
    node = next(i for i, f in enumerate(data["frame"]) if f >= 0 and data["frames"][f][0] == "opener")
    shown, errors = dom(page, work, "#z=%d" % node)
    check("link: the zoom in it is applied", frames(shown)["opener"]["width"] > 1000 and frames(shown)["main"]["faded"], frames(shown))
    # A weight and a search in a link.
    shown, errors = dom(page, work, "#w=events&s=%2F%5Ere%2F")
    check("link: the weight in it is applied", '<span id="measure">number of events</span><span id="after">, 9 events' in shown)
    same("link: the search in it, a regular expression, is applied",
         marked(shown), ["read", "reader", "recursive"])


def test_narrow(work):
    """A thousand processes: the white lines around their frames, of which one half is inside, do not cover them."""
    trace = ctf.Trace()
    for number in range(1, 1001):
        trace.add(number, "tick", (number, number, "app%d" % number), [0x1234])
    directory, page = os.path.join(work, "narrow"), os.path.join(work, "narrow.html")
    trace.write(directory)
    run("flamegraph", "-o", page, directory)
    if browser():
        shown = dom(page, work)[0]
        lines = [(float(width), float(line)) for width, line in re.findall(r'<rect width="([\d.]+)"[^>]* stroke-width="([\d.]+)"', shown)]
        check("narrow frames are visible", len(lines) > 3000 and all(line <= width / 4 for width, line in lines), lines[:9])


def titles(text):
    """The drawn frames: {path of names from the top: the rest of the title}.

    A frame is below another one if it is deeper and within its edges.
    """
    found, above = {}, []
    for x, y, width, title in re.findall(r'<g class="frame[^"]*" width="([\d.]+)" transform="translate\(([\d.e-]+), (\d+)\)">'
                                         r'<title>(.*?)</title>', text):
        name, rest = title.split(": ", 1)
        above.append((int(width), float(y), float(y) + float(x), name.split(" (")[0], rest))
    for y, left, right, name, rest in above:
        path = [other[3] for other in sorted(above) if other[0] < y and other[1] <= left + 0.01 and other[2] >= right - 0.01]
        found[";".join([*path, name])] = rest
    return found


def test_bottom_up(trace, work):
    """The tree from the innermost frames outward: from its top to a leaf are the frames of one stack."""
    page = os.path.join(work, "up.html")
    run("flamegraph", "--bottom-up", "-o", page, trace)
    if not browser():
        return
    shown, errors = dom(page, work)
    check("bottom-up: no error in the browser", "CONSOLE" not in errors, errors)
    found = titles(shown)
    evil = "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;\ufffd[31m\ufffd"
    stacks = {path: rest.split(",")[0] for path, rest in found.items() if not any(other.startswith(path + ";") for other in found)}
    same("bottom-up: stacks from the innermost frame, with their time", stacks, {
        "all;read;reader;main;_start;app": "6.000 µs", "all;read;reader;main;_start;" + evil: "100 ns",
        "all;openat;opener;main;_start;app": "400 ns", "all;futex;recursive;recursive;recursive;main;_start;app": "6.000 µs"})
    same("bottom-up: equal inner frames have one sum", found["all;read;reader;main;_start"].split(",")[0], "6.100 µs")
    click = """
        const view = document.getElementById("view");
        view.value = "%s"; view.dispatchEvent(new Event("change"));"""
    after = """document.body.dataset.hash = location.hash;"""
    shown, errors = dom(page, work, script=click % "top-down" + after)
    check("view: the menu turns the tree", "all;app;_start;main;reader;read" in titles(shown), titles(shown))
    check("view: the link keeps it", 'data-hash="#v=top-down"' in shown)
    shown, errors = dom(page, work, "#v=top-down")
    check("link: the view in it is applied", "all;app;_start;main;reader;read" in titles(shown), titles(shown))
    shown, errors = dom(page, work, "#w=off-cpu&v=bottom-up")
    same("bottom-up: another weight", titles(shown)["all;preempted;reader;main"].split(",")[0], "300 ns")


def test_base(trace, work, program, symbols, build_id):
    """A trace with other shares, of a program in another directory with another name."""
    base = ctf.Trace()
    thread = (100, 100, "app-old")
    moved = os.path.join(work, "elsewhere", os.path.basename(program))
    os.makedirs(os.path.dirname(moved))
    shutil.copy(program, moved)
    base.add(1, "kunwind_map", thread, (), ctf.MAP, [100, 100, BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, moved])
    now = 1000
    for name, ns, functions in (("read", 300, ("reader", "main", "_start")), ("read", 500, ("opener", "main", "_start")),
                                ("futex", 200, ("recursive", "main", "_start"))):
        base.add(now, "syscall_entry_" + name, thread, stack(symbols, *functions))
        now += ns
        base.add(now, "syscall_exit_" + name, thread, (), ctf.RETURN, [0])
    directory = os.path.join(work, "base")
    base.write(directory)
    page = os.path.join(work, "compared.html")
    run("flamegraph", "-o", page, "--pid", "100", "--base", directory, trace)
    if not browser():
        return
    # 12.4 us in this trace, 1 us in the base
    shown, errors = dom(page, work)
    check("base: no error in the browser", "CONSOLE" not in errors, errors)
    found = titles(shown)
    same("base: a frame of both traces", found["all;app;_start;main;reader;read"],
         "6.000 µs, 48.39 %; base: 300 ns, 30.00 %; change: +18.39 points")
    same("base: a frame of the base only", found["all;app;_start;main;opener;read"],
         "0 ns, 0.00 %; base: 500 ns, 50.00 %; change: −50.00 points (only in the base)")
    same("base: a frame of this trace only", found["all;app;_start;main;opener;openat"],
         "400 ns, 3.23 %; base: 0 ns, 0.00 %; change: +3.23 points (only in this trace)")
    same("base: sums", found["all"], "12.400 µs, 100.00 %; base: 1.000 µs, 100.00 %; change: +0.00 points")
    fills = dict(re.findall(r"<title>(\w+)[^<]*</title><rect [^>]*fill=\"([^\"]*)\"", shown))
    check("base: grown frames are red, shrunk ones blue, others grey", "hsl(6," in fills["openat"] and "hsl(215," in fills["opener"] and
          fills["main"] == "#ececec", fills)
    widths = {name: frame["width"] for name, frame in frames(shown).items()}
    same("base: a width is the mean of both shares", round(widths["opener"] / widths["all"], 3), round((0.4 / 12.4 + 0.5) / 2, 3))
    check("base: the legend and both traces are explained", "only in the base" in shown and "Base: Trace of testhost" in shown, shown)
    shown, errors = dom(page, work, "#w=events&v=bottom-up")
    found = titles(shown)
    check("base: bottom-up, by events", found["all;read;reader"].startswith("1 event, ") and "base: 1 event, 33.33 %" in found["all;read;reader"], found)
    for options, message in ((("--base", directory, "--base", directory), "only one trace can be the base"),
                             (("--base", "/nonexistent"), "/nonexistent: No such file"),
                             (("--base", directory, "-e", "openat"), "base: no events")):
        kept = os.path.join(work, "none.html")
        done = run("flamegraph", "-o", kept, *options, trace, status=2 if message.startswith("only") else 1)
        check("base: %s: a message, and no page" % " ".join(options[2:]), message in done.stderr and not os.path.exists(kept), done.stderr)


def test_base_locks(work, program, symbols, build_id):
    """A lock whose holder has another name in the base."""
    def make(comm, ns):
        trace = ctf.Trace()
        waiter, holder = (100, 100, comm), (100, 101, comm)
        waits, holds = stack(symbols, "reader", "main", "_start"), stack(symbols, "opener", "main", "_start")
        trace.add(1, "kunwind_map", waiter, (), ctf.MAP, [100, 100, BIAS, BIAS + 0x10000, 0, BIAS, 0, build_id, program])
        trace.add(1000, "syscall_entry_futex", waiter, waits, ctf.FUTEX, (0x5000, 0, 2))
        trace.add(1100, "sched_switch", waiter, waits, ctf.SWITCH, (100, 1, 101))
        trace.add(1090 + ns, "syscall_entry_futex", holder, holds, ctf.FUTEX, (0x5000, 1, 1))
        trace.add(1100 + ns, "sched_waking", holder, holds, ctf.WAKING, (comm, 100))
        trace.add(1200 + ns, "sched_switch", holder, holds, ctf.SWITCH, (101, 1, 100))
        trace.add(1300 + ns, "syscall_exit_futex", waiter, (), ctf.RETURN, [0])
        directory = os.path.join(work, "locks of " + comm)
        trace.write(directory)
        return directory

    page = os.path.join(work, "locks.html")
    run("flamegraph", "--weight", "lock", "-o", page, "--base", make("app-old", 400), make("app", 600))
    if browser():
        path = "all;app;_start;main;reader;[lock held by app];_start;main;opener;futex"
        same("base: a lock's holder with another name is the same holder", {key: value for key, value in titles(dom(page, work)[0]).items()
             if key.endswith(";futex")}, {path: "600 ns, 100.00 %; base: 400 ns, 100.00 %; change: +0.00 points"})


def test_least(work):
    """Frames that are too narrow to be seen."""
    trace = ctf.Trace()
    for i in range(30000):
        trace.add(1000 + i * 10, "tick%d" % (0 if i % 100 else i), (100, 100, "app"), [0x1000])
    directory = os.path.join(work, "least")
    trace.write(directory, packets=10)

    def data(*options):
        page = os.path.join(work, "narrow.html")
        run("flamegraph", "--all", "-o", page, *options, directory)
        with open(page) as file:
            return json.loads(re.search(r'id="data">(.*?)</script>', file.read(), re.S)[1])

    def paths(page):
        found = {}
        for i, own in enumerate(page["weights"][0]["self"]):
            path = []
            node = i
            while node:
                path.insert(0, page["frames"][page["frame"][node]][0])
                node = page["parent"][node]
            if own:
                found[";".join(path)] = own
        return found

    drawn, whole = paths(data()), paths(data("--least", "0"))
    above = "app;[stack ends here];[unknown];"
    same("least: narrow frames are one frame below their caller", drawn, {above + "tick0": 29701, above + "[narrow frames]": 299})
    same("least: 0: all frames", (len(whole), sum(whole.values()), whole[above + "tick100"]), (300, 30000, 1))
    run("flamegraph", "-o", os.path.join(work, "none.html"), "--least", "1x", directory, status=2)


def main():
    tap.suite = "flamegraph"
    with tempfile.TemporaryDirectory() as work:
        program, symbols, build_id = analyze.build(work)
        trace = analyze.make_trace(work, program, symbols, build_id)
        test_flamegraph(trace, work)
        test_narrow(work)
        test_least(work)
        test_bottom_up(trace, work)
        test_base(trace, work, program, symbols, build_id)
        test_base_locks(work, program, symbols, build_id)
    tap.finish()


if __name__ == "__main__":
    main()
