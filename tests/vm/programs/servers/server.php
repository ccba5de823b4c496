<?php
// SPDX-License-Identifier: MIT
//
// A server of PHP and its client in one process, with the JIT compiler: $argv[1] requests over
// a socket. Each request is parsed, counted, written to a file and read again.

final class Store
{
	private array $of = [];
	public function add(string $name, int $value): int
	{
		return $this->of[$name] = ($this->of[$name] ?? 0) + $value;
	}
	public function text(): string
	{
		ksort($this->of);
		$lines = array_map(fn($k, $v) => "$k=$v", array_keys($this->of), $this->of);
		return implode("\n", $lines);
	}
}

function checksum(string $text): int
{
	$sum = 1;
	for ($i = 0; $i < strlen($text); $i++)
		$sum = ($sum * 31 + ord($text[$i])) % 1000003;
	return $sum;
}

function answer(Store $store, string $line, string $file): string
{
	[$name, $value] = explode(' ', $line);
	$store->add($name, (int)$value);
	file_put_contents($file, $store->text());
	$words = explode("\n", $store->text());
	usort($words, fn($a, $b) => checksum($a) <=> checksum($b));
	return checksum(file_get_contents($file)) . ' ' . count($words) . "\n";
}

$file = tempnam('/tmp', 'server-php');
[$server, $client] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$store = new Store();
for ($n = 0; $n < (int)$argv[1]; $n++) {
	fwrite($client, 'n' . $n % 9 . " $n\n");
	fwrite($server, answer($store, fgets($server), $file));
	$last = fgets($client);
}
unlink($file);
echo "requests $n\n";
