// SPDX-License-Identifier: MIT
//
// node.js - JavaScript that opens a file that is not there, from deep inside: while
// its functions are interpreted, and when they were compiled. Prints where what
// is mapped, then waits for the end of its input.
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
