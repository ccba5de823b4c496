// SPDX-License-Identifier: MIT

import com.sun.net.httpserver.HttpServer;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/** A web server and its clients in one process: args[0] requests, two at a time. */
public class Server {
	static final AtomicInteger next = new AtomicInteger(), done = new AtomicInteger();

	static byte[] answer(byte[] body) throws Exception {
		List<String> words = Arrays.asList(new String(body, StandardCharsets.UTF_8).split(" "));
		String text = words.stream().sorted().map(w -> w + "=" + w.length()).collect(Collectors.joining("\n"));
		Path file = Files.createTempFile("server", "");
		Files.writeString(file, text);
		byte[] read = Files.readAllBytes(file);
		Files.delete(file);
		return read;
	}

	static void client(int port, int number) {
		for (int n; (n = next.getAndIncrement()) < number; done.getAndIncrement()) {
			try {
				var c = (HttpURLConnection)new URL("http://127.0.0.1:" + port + "/").openConnection();
				c.setDoOutput(true);
				try (OutputStream out = c.getOutputStream()) {
					out.write(("b a " + n + " " + "word ".repeat(n % 50)).getBytes());
				}
				c.getInputStream().readAllBytes();
			} catch (Exception e) {
				throw new RuntimeException(e);
			}
		}
	}

	public static void main(String[] args) throws Exception {
		int number = Integer.parseInt(args[0]);
		HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
		server.createContext("/", exchange -> {
			try {
				byte[] text = answer(exchange.getRequestBody().readAllBytes());
				exchange.sendResponseHeaders(200, text.length);
				exchange.getResponseBody().write(text);
				exchange.close();
			} catch (Exception e) {
				throw new RuntimeException(e);
			}
		});
		var pool = Executors.newFixedThreadPool(2);
		server.setExecutor(pool);
		server.start();
		int port = server.getAddress().getPort();
		Thread other = new Thread(() -> client(port, number));
		other.start();
		client(port, number);
		other.join();
		server.stop(0);
		pool.shutdown();
		System.out.println("requests " + done);
	}
}
