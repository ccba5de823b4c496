<?php
# SPDX-License-Identifier: MIT
#
# nested.php - PHP and C that call each other, three times
#
#    nested.php LIBRARY NUMBER
$library = FFI::cdef('int opens(const char *name, int n);
	int back(int (*called)(int left, int n), int left, int n);', $argv[1]);

function recurse($depth, $left, $n)
{
	global $library, $called;

	if ($depth)
		return recurse($depth - 1, $left, $n) + 1;
	return $left ? $library->back($called, $left - 1, $n) : $library->opens('php', $n);
}

$called = function ($left, $n) {
	return recurse(8, $left, $n);
};
for ($n = 0; $n < $argv[2]; $n++)
	$library->back($called, 2, $n);
readfile('/proc/self/maps');
