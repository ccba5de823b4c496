# SPDX-License-Identifier: MIT
# real.pl - perl, blocked in read(), called by a sort callback in a substitution in eval
use strict;
use warnings;

sub wait_here { my $n = sysread(STDIN, my $buffer, 1); return 0; }
sub compare { return wait_here(); }
my $text = "abc";
eval {
    $text =~ s/b/join("", map { my @l = sort { compare($a, $b) } (3, 1, 2); "@l" } (1))/e;
};
