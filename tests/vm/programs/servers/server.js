// SPDX-License-Identifier: MIT
//
// A web server of node and its clients in one process: ARGV[2] requests, four at a time.
// Each request parses and writes JSON, writes a file and reads it again.
'use strict';
const http = require('http'), fs = require('fs'), crypto = require('crypto');
const number = Number(process.argv[2]), file = '/tmp/server-js-' + process.pid;
let next = 0, done = 0, sum = 0;

class Store {
	#of = new Map();
	add(name, value) { this.#of.set(name, (this.#of.get(name) || []).concat(value).slice(-5)); }
	sorted() { return [...this.#of].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([k, v]) => ({ k, v })); }
}
const store = new Store();

const server = http.createServer((request, response) => {
	let body = '';
	request.on('data', (chunk) => { body += chunk; });
	request.on('end', () => {
		const { name, values } = JSON.parse(body);
		store.add(name, values.reduce((a, b) => a + b, 0));
		fs.writeFileSync(file, JSON.stringify(store.sorted()));
		const text = fs.readFileSync(file);
		response.end(crypto.createHash('sha1').update(text).digest('hex'));
	});
});

async function client(port) {
	while (next < number) {
		const n = next++;
		sum += await new Promise((resolve, reject) => {
			const request = http.request({ port, method: 'POST' }, (response) => {
				let text = '';
				response.on('data', (chunk) => { text += chunk; });
				response.on('end', () => resolve(text.length));
			});
			request.on('error', reject);
			request.end(JSON.stringify({ name: 'n' + n % 7, values: [n, n + 1, n * n] }));
		});
		done++;
	}
}

server.listen(0, '127.0.0.1', async () => {
	await Promise.all([1, 2, 3, 4].map(() => client(server.address().port)));
	server.close();
	fs.unlinkSync(file);
	console.log('requests', done, sum);
});
