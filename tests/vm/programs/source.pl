# SPDX-License-Identifier: MIT
use threads;
threads->create(sub { sleep 1000 });
my @sorted = sort { scalar <STDIN>; $a <=> $b } (3, 1, 2);
