# SPDX-License-Identifier: MIT
def nest(n) = n.positive? ? nest(n - 1) : $stdin.gets
Thread.new { Queue.new.pop }
Fiber.new { [3, 1, 2].sort_by { |x| x }.each { |_| nest(5) } }.resume
