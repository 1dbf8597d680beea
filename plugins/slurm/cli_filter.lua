-- Slurm's cli_filter.lua with what brim does there: a copy of it lies beside slurm.conf, where
-- CliFilterPlugins=lua finds it. See docs/slurm/hooks.md. Who has a file of his own takes over the
-- line with dofile, and the one with brim.filter.
local good, brim = pcall(dofile, "/usr/share/brim/slurm/brim_hooks.lua")
if not good then
    slurm.log_error("brim: left out: %s", tostring(brim))
end

function slurm_cli_setup_defaults(options, early)
    return slurm.SUCCESS
end

function slurm_cli_pre_submit(options, offset)
    if good then
        brim.filter(options)
    end
    return slurm.SUCCESS
end

function slurm_cli_post_submit(offset, job, step)
    return slurm.SUCCESS
end
