// SPDX-License-Identifier: MIT
//
// node.js - JavaScript that opens a file that does not exist, from a recursion
//
// At first its functions are interpreted, later they are compiled. Prints the
// process's mappings at the end.
'use strict';
const fs = require('fs');

function innermost(n) {
	try {
		fs.openSync('/nowhere/kunwind-' + n, 'r');
	} catch (e) {
		return e.errno;
	}
	return 0;
}

function recurse(left, n) {
	return left ? recurse(left - 1, n) + 1 : innermost(n);
}

function spin(left) {
	return left ? spin(left - 1) + left % 3 : 0;
}

for (let i = 0; i < 20; i++)
	recurse(40, i);
for (let i = 0; i < 200000; i++)
	spin(20);
for (let i = 20; i < 400; i++)
	recurse(40, i);
console.log(fs.readFileSync('/proc/self/maps', 'latin1'));
