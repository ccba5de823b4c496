// SPDX-License-Identifier: MIT
//
// node-nested.js - JavaScript and C++ that call each other
//
// Array.prototype.map, sort, and JSON.parse call back functions, nested in each
// other. The innermost one opens /nowhere/nested-DEPTH-N, at first while the
// functions are interpreted, later when they are compiled. Prints the process's
// PID and mappings.
//
// Run it with --perf-basic-prof --interpreted-frames-native-stack: then each
// function has code of its own, and a name in /tmp/perf-PID.map.
'use strict';
const fs = require('fs');
const deepest = 9, rounds = 30;

function opens(depth, n) {
	try {
		fs.openSync('/nowhere/nested-' + depth + '-' + n, 'r');
	} catch (e) {
		return e.errno;
	}
	return 0;
}

function recurse(left, depth, n) {
	return left ? recurse(left - 1, depth, n) + 1 : opens(depth, n);
}

function below(left, depth, n, next) {
	return left ? next(left - 1, depth, n) : recurse(3, depth, n);
}

function viaMap(left, depth, n) {
	return [1].map(function mapped() {
		return below(left, depth, n, viaSort);
	})[0];
}

function viaSort(left, depth, n) {
	let done = 0;

	[2, 1].sort(function compared(a, b) {
		if (!done++)
			below(left, depth, n, viaJson);
		return a - b;
	});
	return done;
}

function viaJson(left, depth, n) {
	return JSON.parse('{"a": 1}', function revived(key, value) {
		if (key === 'a')
			below(left, depth, n, viaMap);
		return value;
	});
}

for (let n = 0; n < rounds; n++)
	for (let depth = 0; depth < deepest; depth++)
		viaMap(depth, depth, n);
console.log('pid ' + process.pid);
console.log(fs.readFileSync('/proc/self/maps', 'latin1'));
