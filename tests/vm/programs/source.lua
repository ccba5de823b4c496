-- SPDX-License-Identifier: MIT
local function nest(n)
	if n == 0 then return io.read() end
	return (nest(n - 1))
end
coroutine.resume(coroutine.create(function()
	table.sort({ 3, 1, 2 }, function(a, b) nest(3) return a < b end)
end))
