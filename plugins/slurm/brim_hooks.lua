-- What brim does in Slurm's hooks for submission: of job_submit.lua (in slurmctld) and of
-- cli_filter.lua (in sbatch, srun, salloc). See docs/slurm/hooks.md.
--
-- Both run where an error would cost much: slurmctld has its locks, and sbatch has the user's job.
-- So nothing here asks anything of Slurm, waits, or reads more than READ_MOST of a file; what is
-- wrong is one line of the log; and no function refuses a job: what can never run is explained,
-- and Slurm refuses it. It is for Lua 5.1 to 5.4, whichever Slurm was built with.

local M = {}

local READ_MOST = 65536 -- of a file of brim control's
local TEXT_MOST = 1023 -- of a comment: Slurm refuses a job with a longer one
local NAME_MOST = 64 -- of a job's name in used.tsv
local COUNT_MOST = 1000000
local AHEAD_S = 60 -- by so much another machine's clock may be ahead
M.NOTE = "brim: waits for its place"

-- ---- what users and files say: nothing of it is trusted ----

-- A number that Slurm has for "not said" is nil.
local function given(n)
    if type(n) ~= "number" or n < 0 or n == slurm.NO_VAL or n == slurm.NO_VAL16 then
        return nil
    end
    if n == slurm.NO_VAL64 or n == slurm.INFINITE or n == 65535 then
        return nil
    end
    return n
end

local function words_of(text)
    return string.gmatch(string.sub(text or "", 1, TEXT_MOST), "%S+")
end

local function has_word(text, word)
    for w in words_of(text) do
        if w == word then
            return true
        end
    end
    return false
end

-- Whether a list of the settings has a name.
local function lists(list, name)
    for _, one in ipairs(list or {}) do
        if one == name then
            return true
        end
    end
    return false
end

-- A name as it stands in used.tsv, and on a terminal.
function M.plain(name)
    return (string.gsub(string.sub(name or "", 1, NAME_MOST), "[%c\127]", "?"))
end

-- The GPUs of a text such as "gres:gpu:h100:8,gres:shard:2"; 0: none, nil: not to be understood.
function M.gpus(text)
    local sum = 0

    for item in string.gmatch(string.sub(text or "", 1, 4096), "[^,]+") do
        local rest = string.match(string.gsub(item, "^gres[:/]", ""), "^gpu(.*)$")
        if rest == "" then
            sum = sum + 1
        elseif rest and string.match(rest, "^[:=]") then
            local last = string.match(rest, "([^:=]*)$")
            local n = string.match(last, "^%d+$") and tonumber(last)
            if not n and string.match(last, "^%d") then
                return nil
            end
            sum = sum + (n or 1)
        end
    end
    return sum <= COUNT_MOST and sum or nil
end

-- The GPUs that a job asks for: on one node, and in all, at least. nil: nobody can tell.
function M.asked(job)
    local node, all = M.gpus(job.tres_per_node), M.gpus(job.tres_per_job)
    local task, socket = M.gpus(job.tres_per_task), M.gpus(job.tres_per_socket)
    local nodes, most = given(job.min_nodes) or 1, given(job.max_nodes)

    if not (node and all and task and socket) then
        return nil
    end
    all = math.max(all, node * nodes, task * (given(job.num_tasks) or 1), socket)
    node = math.max(node, task, socket)
    if most and most > 0 then
        node = math.max(node, math.ceil(all / most))
    end
    return node, math.max(all, node)
end

-- ---- what a partition has ----

-- The names of the job's partitions; of none, the default one.
local function partitions_of(job, parts)
    local names = {}

    for name in string.gmatch(string.sub(job.partition or "", 1, 4096), "[^,]+") do
        names[#names + 1] = name
    end
    if #names == 0 then
        for name, part in pairs(parts or {}) do
            if part.flag_default == 1 then
                names[1] = name
            end
        end
    end
    return names
end

-- Why none of its partitions can ever run it; nil: one can, or nobody knows.
function M.impossible(settings, job, parts)
    local node, all = M.asked(job)
    local has, total, names = 0, 0, partitions_of(job, parts)

    if not node or all == 0 or #names == 0 then
        return nil
    end
    for _, name in ipairs(names) do
        local most, part = (settings.gpus or {})[name], (parts or {})[name]
        if type(most) ~= "number" or not part then
            return nil
        end
        has = math.max(has, most)
        total = math.max(total, most * (given(part.total_nodes) or COUNT_MOST))
    end
    local where = "partition " .. M.plain(table.concat(names, ","))
    if has == 0 then
        return string.format("%s has no GPUs, and this job asks for %d", where, all)
    elseif node > has then
        return string.format("the nodes of %s have at most %d GPUs, and this job asks for %d on one",
                             where, has, node)
    elseif all > total then
        return string.format("%s has at most %d GPUs, and this job asks for %d", where, total, all)
    end
    return nil
end

-- ---- what brim control keeps ----

-- The last READ_MOST bytes of a file; nil where there is none.
local function tail(path)
    local file = io.open(path, "rb")
    local text

    if not file then
        return nil
    end
    local size = file:seek("end")
    if size and file:seek("set", math.max(0, size - READ_MOST)) then
        text = file:read(READ_MOST)
    end
    file:close()
    return text
end

-- Whether brim control looked at the cluster a moment ago, and places jobs.
function M.alive(settings, now)
    local text = tail(settings.control .. "/alive")
    local at = tonumber(text and string.match(text, "^(%d+)\n$") or "")

    return at ~= nil and now - at <= settings.alive_s and at - now <= AHEAD_S
end

-- What the last job of a user with that name had, and how many of them it kept busy; nil: not known.
function M.used(settings, user, name)
    local text = tail(settings.control .. "/used.tsv")
    local head = "\n" .. user .. "\t" .. M.plain(name) .. "\t"
    local from, had, busy = 1, nil, nil

    if not text or user == "" or string.find(user, "[%c]") then
        return nil
    end
    text = "\n" .. text
    while true do
        local _, last = string.find(text, head, from, true)
        if not last then
            return tonumber(had), tonumber(busy)
        end
        local a, b = string.match(text, "^(%d%d?%d?%d?%d?%d?)\t(%d%d?%d?%d?%d?%d?)\n", last + 1)
        if a then
            had, busy = a, b
        end
        from = last -- the next line begins there, at the earliest
    end
end

-- The names of jobs that say nothing of what they do.
local NAMELESS = { "wrap", "bash", "sh", "interactive" }

-- "You asked for 8 GPUs and used 1 last time"; nil: there is nothing to say.
function M.hint(settings, job)
    local _, all = M.asked(job)

    if not all or all == 0 or lists(NAMELESS, job.name) then
        return nil
    end
    local had, busy = M.used(settings, job.user_name or "", job.name or "")
    if not had or busy >= had or busy >= all then
        return nil
    end
    return string.format("your last job '%s' had %d GPUs and kept %d busy; this one asks for %d",
                         M.plain(job.name), had, busy, all)
end

-- ---- placement ----

-- Whether brim is to place it: by its comment, or by the site's settings.
local function opted_in(settings, job, parts)
    local place = settings.place or {}

    if has_word(job.comment, "brim:place") then
        return true, true
    end
    for _, name in ipairs(partitions_of(job, parts)) do
        if lists(place.partitions, name) then
            return true, false
        end
    end
    return lists(place.accounts, job.account or job.default_account), false
end

-- Why Slurm is to place it all the same; nil: brim can.
local function why_not(settings, job, parts, now)
    local _, all = M.asked(job)

    if not all or all == 0 then
        return "it asks for no GPUs"
    elseif (job.array_inx or "") ~= "" or given(job.het_job_offset) then
        return "it is of several parts"
    elseif (job.dependency or "") ~= "" or (given(job.begin_time) or 0) > now then
        return "it waits for another job, or a date"
    elseif (job.req_nodes or "") ~= "" or (job.reservation or "") ~= "" then
        return "it names its nodes, or a reservation"
    elseif #partitions_of(job, parts) ~= 1 then
        return "it names several partitions"
    elseif given(job.priority) then
        return "its priority is set"
    elseif given(job.immediate) == 1 then
        return "it does not wait"
    elseif not M.alive(settings, now) then
        return "brim control does not run"
    end
    return nil
end

-- Hold it for brim control, and say so. What can never run is not held: Slurm lets jobs pass that
-- are held, and would refuse this one.
function M.place(settings, job, parts, now)
    local wanted, explicit = opted_in(settings, job, parts)

    if not wanted or job.priority == 0 or M.impossible(settings, job, parts) then
        return nil
    end
    local why = why_not(settings, job, parts, now)
    if why then
        return explicit and "Slurm places this job: " .. why or nil
    end
    job.admin_comment = M.NOTE -- first: without it nobody would let it go
    job.priority = 0
    return "this job waits for brim control; scontrol release lets it go without it"
end

-- ---- the account ----

function M.account(settings, job)
    local accounts = settings.account

    if (job.account or "") ~= "" or (job.default_account or "") ~= "" or not accounts then
        return
    end
    local name = type(accounts) == "table" and (accounts[job.user_name or ""] or accounts["*"]) or
        accounts
    if type(name) == "string" and name ~= "" then
        job.account = name
    end
end

-- ---- the comment ----

local NAMES = "HUP INT QUIT USR1 USR2 TERM CONT TSTP URG XCPU ALRM WINCH"

-- As the options of the plugin for srun take them (values.c): "2-4".
function M.is_elastic(text)
    local a, b = string.match(text or "", "^(%d%d?%d?%d?%d?%d?%d?)%-(%d%d?%d?%d?%d?%d?%d?)$")
    local least, most = tonumber(a), tonumber(b)

    return least ~= nil and least >= 1 and least <= most and most <= COUNT_MOST
end

-- "USR1", "10@60".
function M.is_signal(text)
    local name, seconds = string.match(text or "", "^(%w+)@(%d%d?%d?%d?%d?%d?)$")

    if seconds and (tonumber(seconds) < 1 or tonumber(seconds) > 604800) then
        return false
    end
    name = name or text or ""
    if string.match(name, "^%d%d?$") then
        return tonumber(name) >= 1 and tonumber(name) <= 64
    end
    return name ~= "" and has_word(NAMES, (string.gsub(name, "^SIG", "")))
end

-- The comment with the words for brim behind what the user wrote; nil: there are none to add.
function M.comment(own, elastic, signal)
    local add = {}

    own = own or ""
    if M.is_elastic(elastic) and not string.find(own, "elastic=", 1, true) then
        add[#add + 1] = "elastic=" .. elastic
    end
    if M.is_signal(signal) and not string.find(own, "signal=", 1, true) then
        add[#add + 1] = "signal=" .. signal
    end
    if #add == 0 then
        return nil
    end
    local text = "brim:" .. table.concat(add, " ")
    text = own == "" and text or own .. " " .. text
    return #text <= TEXT_MOST and text or nil
end

-- An option of brim's plugin for srun, whatever the plugin is called.
local function option(options, name)
    for _, plugin in pairs(options["spank"] or {}) do
        if type(plugin) == "table" and type(plugin[name]) == "string" then
            return plugin[name]
        end
    end
    return nil
end

local function filter(options)
    local inside = os.getenv("SLURM_JOB_ID") -- its variables are the job's around this one

    if options["type"] == "srun" and inside then
        return -- a step has no comment
    end
    local elastic = option(options, "brim-elastic")
    local signal = option(options, "brim-checkpoint-signal")
    if not inside then
        elastic = elastic or os.getenv("BRIM_ELASTIC")
        signal = signal or os.getenv("BRIM_CHECKPOINT_SIGNAL")
    end
    local text = M.comment(options["comment"], elastic, signal)
    if text then
        options["comment"] = text
    end
end

-- ---- what the hooks call ----

-- Run one part; what goes wrong in it costs a line of the log, and nothing else. A text that it
-- returns is for the user.
local function try(what, part, ...)
    local good, said = pcall(part, ...)

    if not good then
        pcall(slurm.log_error, "brim: %s: %s", what, tostring(said))
    elseif type(said) == "string" then
        pcall(slurm.log_user, "%s", "brim: " .. said)
    end
end

-- For slurm_job_submit(): each part for itself.
function M.submit(settings, job, parts)
    try("account", M.account, settings, job)
    try("gpus", M.impossible, settings, job, parts)
    try("hint", M.hint, settings, job)
    try("place", M.place, settings, job, parts, os.time())
end

-- For slurm_cli_pre_submit().
function M.filter(options)
    try("comment", filter, options)
end

return M
