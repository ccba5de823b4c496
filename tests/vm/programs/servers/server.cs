// SPDX-License-Identifier: MIT

using System;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Threading;

/// A server of C# and its client, a thread of the same process: args[0] requests over TCP.
class Server
{
	static string Answer(string line)
	{
		var words = line.Split(' ').OrderBy(w => w).Select(w => w + "=" + w.Length);
		var file = Path.GetTempFileName();
		File.WriteAllText(file, string.Join(",", words));
		var text = File.ReadAllText(file);
		File.Delete(file);
		return text;
	}

	static void Client(int port, int number)
	{
		using (var client = new TcpClient("127.0.0.1", port))
		using (var reader = new StreamReader(client.GetStream()))
		using (var writer = new StreamWriter(client.GetStream()) { AutoFlush = true })
			for (int n = 0; n < number; n++) {
				writer.WriteLine("b a " + n + " " + new string('x', n % 70));
				reader.ReadLine();
			}
	}

	static void Main(string[] args)
	{
		int number = int.Parse(args[0]), done = 0;
		var listener = new TcpListener(IPAddress.Loopback, 0);
		listener.Start();
		int port = ((IPEndPoint)listener.LocalEndpoint).Port;
		var thread = new Thread(() => Client(port, number));
		thread.Start();
		using (var server = listener.AcceptTcpClient())
		using (var reader = new StreamReader(server.GetStream()))
		using (var writer = new StreamWriter(server.GetStream()) { AutoFlush = true })
			for (string line; (line = reader.ReadLine()) != null; done++)
				writer.WriteLine(Answer(line));
		thread.Join();
		Console.WriteLine("requests " + done);
	}
}
