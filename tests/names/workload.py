# SPDX-License-Identifier: MIT
"""The programs that scripts/check-names records: python3 with its sqlite, sqlite3, and git.

  workload.py DIRECTORY ROUNDS

Works in DIRECTORY, with the git and sqlite3 of PATH. Python functions call C (sort, re,
sqlite), which calls Python functions, and imports run modules. So one stack has several
evaluation loops of Python. Each of these functions reads or writes files.
"""

import csv
import importlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile


def imports():
    for name in ("argparse", "calendar", "configparser", "decimal", "difflib", "email.mime.text",
                 "fractions", "html.parser", "http.client", "logging.config", "statistics", "tarfile",
                 "unittest.mock", "xml.etree.ElementTree", "zipfile"):
        importlib.import_module(name)


def size_of(path):
    return os.stat(path).st_size


def read_rate(who):
    with open("rate-%d" % (len(who) % 3), "a+") as file:
        return len(file.read())


def files(number):
    names = []
    for i in range(20):
        with tempfile.NamedTemporaryFile("w", dir=".", suffix=".csv", delete=False) as file:
            csv.writer(file).writerows((i, j, "text %d" % number) for j in range(20))
            names.append(file.name)
    # C calls back into Python, which makes a system call
    names.sort(key=size_of)
    text = re.sub("[0-9]+", lambda found: str(size_of(names[len(found[0])])), json.dumps(names))
    for name in names:
        os.unlink(name)
    return len(text)


def database(number):
    db = sqlite3.connect("python-%d.db" % number)
    db.create_function("rate", 1, read_rate)
    with db:
        db.execute("create table t (id integer primary key, who text)")
        db.executemany("insert into t values (?, ?)", ((i, "x" * (i % 7)) for i in range(200)))
        db.execute("create index i on t (who)")
    total = db.execute("select sum(rate(who)) from t group by who order by 1").fetchall()
    db.execute("vacuum")
    db.close()
    return total


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def shell(number):
    run("sqlite3", "shell-%d.db" % number,
        "create table t (a, b); with recursive n (i) as (select 1 union all select i + 1 from n "
        "where i < 500) insert into t select i, i * i from n; create index i on t (b); vacuum; "
        "select count (*) from t;")


def repository(number):
    git = ("git", "-c", "user.name=n", "-c", "user.email=e", "-c", "gc.auto=0",
           "-c", "maintenance.auto=false", "-C", "repository-%d" % number)
    run("git", "init", "-q", "repository-%d" % number)
    for i in range(2):
        with open("repository-%d/file" % number, "a") as file:
            file.write("line %d\n" % i * 50)
        run(*git, "add", "file")
        run(*git, "commit", "-q", "-m", "commit %d" % i)
    run(*git, "log", "-p", "--stat")
    run(*git, "repack", "-q", "-a", "-d")
    run(*git, "status")


def main():
    os.chdir(sys.argv[1])
    imports()
    for number in range(int(sys.argv[2])):
        files(number)
        database(number)
        shell(number)
        repository(number)


if __name__ == "__main__":
    main()
