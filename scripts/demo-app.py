#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A small shop's evening report: the program that "make demo" traces.

The program is ordinary Python: functions that call functions, read files and
query sqlite. Debian builds the interpreter, libsqlite3 and libc without frame
pointers, so only unwind information gives their stacks. Callbacks from C to
Python (sqlite's functions, the key of sorted()) put several evaluation loops on
one stack.

  demo-app.py DIRECTORY

The program works in DIRECTORY. It waits for a file "go", so that tracing can
begin first, creates "done" when it has finished, and ends when "end" exists.
"""

import csv
import os
import sqlite3
import sys
import time


def wait_for(directory, name):
    deadline = time.monotonic() + 300
    while not os.access(os.path.join(directory, name), os.F_OK):
        if time.monotonic() > deadline:
            sys.exit("demo-app: no file %s in %s after 300 s" % (name, directory))
        time.sleep(0.05)


def write_orders(directory):
    path = os.path.join(directory, "orders.csv")
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        for number in range(60):
            writer.writerow((number, "customer-%d" % (number % 7), number * 3 % 50 + 1))
    return path


def read_rate(directory, customer):
    """Returns the discount of a customer, from the customer's own file."""
    path = os.path.join(directory, "rate-" + customer)
    if not os.path.exists(path):
        with open(path, "w") as file:
            file.write(str(len(customer) % 3))
    with open(path) as file:
        return int(file.read())


class Shop:
    def __init__(self, directory):
        self.directory = directory
        self.db = sqlite3.connect(os.path.join(directory, "shop.db"))
        # sqlite calls this function from within its byte code.
        self.db.create_function("rate", 1, lambda who: read_rate(directory, who))

    def load(self, path):
        with open(path, newline="") as file:
            self.fill(csv.reader(file))

    def fill(self, rows):
        with self.db:
            self.db.execute("create table orders (id integer, customer text, amount integer)")
            self.db.executemany("insert into orders values (?, ?, ?)", rows)

    def totals(self):
        query = "select customer, sum(amount) - rate(customer) from orders group by customer"
        return self.db.execute(query).fetchall()

    def close(self):
        self.db.close()


def rank(directory, totals):
    # sorted(), in C, calls the key function, which reads a file, for each row.
    return sorted(totals, key=lambda row: (read_rate(directory, row[0]), -row[1]))


def evening_report(directory):
    shop = Shop(directory)
    try:
        shop.load(write_orders(directory))
        return rank(directory, shop.totals())
    finally:
        shop.close()


def main():
    directory = sys.argv[1]
    wait_for(directory, "go")
    for customer, total in evening_report(directory):
        print("%s %d" % (customer, total))
    sys.stdout.flush()
    with open(os.path.join(directory, "done"), "w"):
        pass
    wait_for(directory, "end")


if __name__ == "__main__":
    main()
