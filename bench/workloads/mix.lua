-- mix.lua: a bit of everything that Lua programs do; prints checksums.  The argument scales it.
local scale = tonumber(arg[1] or 100) / 100

local function rounds(full)
  return math.max(1, math.floor(full * scale))
end

-- Numbers in tables: Jacobi iteration on a square.
local function relax(size, times)
  local grid = {}
  for i = 1, size do
    grid[i] = {}
    for j = 1, size do grid[i][j] = (i * j) % 7 end
  end
  for _ = 1, times do
    for i = 2, size - 1 do
      local up, row, down = grid[i - 1], grid[i], grid[i + 1]
      for j = 2, size - 1 do
        row[j] = (up[j] + down[j] + row[j - 1] + row[j + 1]) * 0.25
      end
    end
  end
  return grid[size // 2][size // 2]
end

-- Calls: binary trees, built and counted.
local function build(depth)
  if depth == 0 then return {} end
  return {build(depth - 1), build(depth - 1)}
end

local function count(tree)
  return tree[1] and 1 + count(tree[1]) + count(tree[2]) or 1
end

-- Strings: words made, counted, sorted, replaced.
local function words(times)
  local seen, state = {}, 42
  for _ = 1, times do
    state = (state * 1103515245 + 12345) % 2147483648
    local word = string.format("w%03x", (state >> 16) % 3000)
    seen[word] = (seen[word] or 0) + 1
  end
  local list = {}
  for word, number in pairs(seen) do list[#list + 1] = word .. "=" .. number end
  table.sort(list, function(a, b) return a < b end)
  local text = table.concat(list, " ")
  local swapped, hits = text:gsub("(%w+)=(%d+)", "%2:%1")
  return #swapped, hits, swapped:find("1:", 1, true) or 0
end

-- Closures and coroutines: a pipeline of filters over numbers.
local function primes(limit)
  local function generate()
    for i = 2, limit do coroutine.yield(i) end
  end
  local function filter(prime, source)
    return coroutine.wrap(function()
      for number in source do
        if number % prime ~= 0 then coroutine.yield(number) end
      end
    end)
  end
  local source, sum = coroutine.wrap(generate), 0
  while true do
    local prime = source()
    if not prime then return sum end
    sum = sum + prime
    source = filter(prime, source)
  end
end

-- Objects: method calls through a metatable.
local Account = {}
Account.__index = Account

function Account.new(balance) return setmetatable({balance = balance}, Account) end
function Account:deposit(amount) self.balance = (self.balance + amount) % 1000003 end
function Account:get() return self.balance end

local function bank(times)
  local accounts, sum = {}, 0
  for i = 1, 100 do accounts[i] = Account.new(i) end
  for i = 1, times do
    local account = accounts[i % 100 + 1]
    account:deposit(i)
    sum = (sum + account:get()) % 1000003
  end
  return sum
end

print("relax", string.format("%.10f", relax(200, rounds(500))))
for depth = 12, 14 do
  local total = 0
  for _ = 1, rounds(60) do total = total + count(build(depth)) end
  print("trees", depth, total)
end
print("words", words(rounds(2000000)))
local sum = 0
for _ = 1, rounds(150) do sum = sum + primes(400) end
print("primes", sum)
print("bank", bank(rounds(15000000)))
