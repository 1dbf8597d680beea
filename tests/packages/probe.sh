#!/bin/sh
# Run by script/packages in a root where brim's packages are installed, in namespaces of its own:
# the agent as its unit says, the page, and "brim optimize" of the example as another user.
set -eu

unit=$(dpkg -L brim-agent | grep '/brim-agent\.service$')
# What the unit says of a name.
says() {
    sed -n "s/^$1=//p" "$unit"
}

user=$(says User)
state=/var/lib/$(says StateDirectory)
capabilities=$(says AmbientCapabilities | tr 'A-Z ' 'a-z,' | sed 's/cap_//g; s/,/,+/g; s/^/+/')
# What systemd does before it starts a command.
install -d -o "$user" -g "$user" -m "$(says StateDirectoryMode)" "$state"
# shellcheck disable=SC2046 # the command is words
setpriv --reuid="$user" --regid="$user" --clear-groups --no-new-privs \
    --bounding-set="-all,$capabilities" --inh-caps="-all,$capabilities" \
    --ambient-caps="-all,$capabilities" env STATE_DIRECTORY="$state" $(says ExecStart) &
agent=$!

ask() {
    python3 - "$@" <<'EOF'
import sys, time, urllib.request
for _ in range(600):
    try:
        text = urllib.request.urlopen("http://127.0.0.1:9410" + sys.argv[1]).read().decode()
        break
    except OSError:
        time.sleep(0.1)
if sys.argv[2] not in text:
    sys.exit("%s lacks %s: %s" % (sys.argv[1], sys.argv[2], text[:2000]))
EOF
}
ask /healthz ok
ask / "<title>"
ask /metrics brim_cpu_
[ "$(stat -c %U "/proc/$agent")" = "$user" ]
[ "$(stat -c %U "$state/agent.db")" = "$user" ]
echo "agent: $(brim --version) runs as $user and serves its page"

useradd --create-home someone
su - someone -c "brim optimize --name rows -- python3 /root-files/train_rows.py" >/tmp/card 2>&1 ||
    true # what it says tells
cat /tmp/card
grep -q "^  kept " /tmp/card
su - someone -c "brim runs" | grep rows
userdel --remove someone
rm /tmp/card
kill "$agent"
wait "$agent"
echo "agent: ended with status 0"
