-- SPDX-License-Identifier: MIT
--
-- arg[1] requests: words are sorted by a comparison in Lua, which C calls back and which reads
-- a file; their counts are written to a file and read again.
local number, name = tonumber(arg[1]), os.tmpname()
local counts = {}

local function answer(line)
	local words = {}
	local file = assert(io.open("/proc/self/stat"))
	for word in line:gmatch("%w+") do words[#words + 1] = word end
	table.sort(words, function(a, b)
		file:seek("set", 0)
		file:read(1)
		return a < b
	end)
	file:close()
	for _, word in ipairs(words) do counts[word] = (counts[word] or 0) + 1 end
	local out = assert(io.open(name, "w"))
	for _, word in ipairs(words) do out:write(word:gsub(".", string.upper), "=", counts[word], "\n") end
	out:close()
	local lines = 0
	for _ in io.lines(name) do lines = lines + 1 end
	return lines
end

local sum, resume = 0, coroutine.wrap(function(line)
	while true do line = coroutine.yield(answer(line)) end
end)
for n = 1, number do
	sum = sum + resume(("d b c a %d %s"):format(n, ("x"):rep(n % 9)))
end
os.remove(name)
print("requests", number)
