# SPDX-License-Identifier: MIT
#
# fiber.rb - Ruby and C that call each other, three times, in a fiber with its own stack
#
#    fiber.rb LIBRARY NUMBER
require 'fiddle'

library = Fiddle.dlopen(ARGV[0])
int = Fiddle::TYPE_INT
$opens = Fiddle::Function.new(library['opens'], [Fiddle::TYPE_VOIDP, int], int)
$back = Fiddle::Function.new(library['back'], [Fiddle::TYPE_VOIDP, int, int], int)

def recurse(depth, left, n)
  return recurse(depth - 1, left, n) + 1 if depth > 0
  left > 0 ? $back.call($called, left - 1, n) : $opens.call('ruby', n)
end

$called = Fiddle::Closure::BlockCaller.new(int, [int, int]) { |left, n| recurse(8, left, n) }
Integer(ARGV[1]).times do |n|
  Fiber.new { [1].each { |_| $back.call($called, 2, n) } }.resume
end
print File.read('/proc/self/maps')
