"""A Lua for tests of Slurm's hooks: the library that Slurm itself loads, so that none is needed
beside it."""

import ctypes

LIBRARIES = ("liblua5.1.so.0", "liblua5.4.so.0", "liblua5.3.so.0", "liblua5.2.so.0")


def library():
    """The first of them that is here; None."""
    for name in LIBRARIES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def literal(value):
    """A value of Python's in the words of Lua."""
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, dict):
        return "{%s}" % ", ".join("[%s] = %s" % (literal(k), literal(v)) for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return "{%s}" % ", ".join(map(literal, value))
    data = value if isinstance(value, bytes) else value.encode()
    return '"%s"' % "".join("\\%03d" % byte for byte in data)


class Lua:
    """One state. Lua's own standard libraries are open."""

    def __init__(self):
        self.lib = library()
        self.lib.luaL_newstate.restype = ctypes.c_void_p
        self.lib.lua_tolstring.restype = ctypes.c_void_p
        self.state = ctypes.c_void_p(self.lib.luaL_newstate())
        self.lib.luaL_openlibs(self.state)

    def close(self):
        self.lib.lua_close(self.state)

    def run(self, code):
        """What the code returns, as text; a RuntimeError with Lua's words."""
        lib, size = self.lib, ctypes.c_size_t()
        failed = lib.luaL_loadstring(self.state, code.encode())
        if not failed and hasattr(lib, "lua_pcallk"):
            failed = lib.lua_pcallk(self.state, 0, 1, 0, 0, None)
        elif not failed:
            failed = lib.lua_pcall(self.state, 0, 1, 0)
        at = lib.lua_tolstring(self.state, -1, ctypes.byref(size))
        text = ctypes.string_at(at, size.value).decode(errors="replace") if at else ""
        lib.lua_settop(self.state, -2)
        if failed:
            raise RuntimeError(text)
        return text
