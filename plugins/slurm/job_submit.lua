-- Slurm's job_submit.lua with brim's defaults: a copy of it lies beside slurm.conf, where
-- JobSubmitPlugins=lua finds it. What each setting does is in docs/slurm/hooks.md. Who has a file
-- of his own takes over these settings, the line with dofile, and the one with brim.submit.
local settings = {
    -- Where brim control keeps what it knows: on a disk of this machine, readable for slurmctld.
    control = "/var/lib/brim/control",
    -- Jobs are held for brim control only while it was there within so many seconds.
    alive_s = 180,
    -- The most GPUs that a node of a partition has, as in { batch = 8, cpu = 0 }.
    gpus = {},
    -- For jobs that name no account: "default", or { alice = "vision", ["*"] = "default" }.
    account = nil,
    -- Besides jobs with brim:place in their comment.
    place = { partitions = {}, accounts = {} },
}

local good, brim = pcall(dofile, "/usr/share/brim/slurm/brim_hooks.lua")
if not good then
    slurm.log_error("brim: left out: %s", tostring(brim))
end

function slurm_job_submit(job, parts, uid)
    if good then
        brim.submit(settings, job, parts)
    end
    return slurm.SUCCESS
end

function slurm_job_modify(job, record, parts, uid)
    return slurm.SUCCESS
end
