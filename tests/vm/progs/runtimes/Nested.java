// SPDX-License-Identifier: MIT
//
// Nested.java - Java and C that call each other, three times
//
// go() calls recurse() through methods of several return types. recurse() ends in
// native code (nested.c), which opens a file or calls go() again. The process's
// mappings are written to standard output.
//
//    java -cp DIRECTORY Nested LIBRARY NUMBER
import java.nio.file.Files;
import java.nio.file.Paths;

public class Nested {
	static native int opens(int n);
	static native int back(int left, int n);

	static int recurse(int depth, int left, int n) {
		if (depth > 0)
			return recurse(depth - 1, left, n) + 1;
		return left == 0 ? opens(n) : back(left - 1, n);
	}

	static Integer object(int left, int n) {
		return recurse(8, left, n);
	}

	static double real(int left, int n) {
		return object(left, n) * 0.5;
	}

	static long wide(int left, int n) {
		return (long)real(left, n) + 1;
	}

	static boolean flag(int left, int n) {
		return wide(left, n) > 3;
	}

	static int go(int left, int n) {
		return flag(left, n) ? 1 : 0;
	}

	public static void main(String[] args) throws Exception {
		int number = Integer.parseInt(args[1]);

		System.load(args[0]);
		for (int n = 0; n < number; n++)
			go(2, n);
		System.out.print(Files.readString(Paths.get("/proc/self/maps")));
	}
}
