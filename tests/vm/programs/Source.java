// SPDX-License-Identifier: MIT
public class Source {
	static int nest(int n) throws Exception {
		return n > 0 ? nest(n - 1) + 1 : System.in.read();
	}

	public static void main(String[] args) throws Exception {
		Thread waiter = new Thread(() -> {
			synchronized (Source.class) {
				try {
					Source.class.wait();
				} catch (InterruptedException e) {
				}
			}
		});
		waiter.setDaemon(true);
		waiter.start();
		nest(5);
	}
}
