#!/bin/sh
# Run by script/packages in a root that was made as deploy/container/Containerfile says, in
# namespaces of its own: the agent as deploy/kubernetes/daemonset.yml starts it, with the rights
# that it has there.
set -eu

# words KEY FILE: those of a list in brackets behind a key, without commas and quotes.
words() {
    sed -n "s/^ *$1:\{0,1\} *\[\(.*\)\]$/\1/p" "$2" | tr -d "\"',"
}

command=$(words ENTRYPOINT /root-files/Containerfile)
arguments=$(words args /root-files/daemonset.yml)
rights=$(words add /root-files/daemonset.yml | tr 'A-Z ' 'a-z,' | sed 's/,/,+/g; s/^/+/')
mkdir -p /etc/brim-token
head -c 24 /dev/urandom | base64 | tr '+/' '-_' >/etc/brim-token/token
# shellcheck disable=SC2086 # these are words
setpriv --no-new-privs --bounding-set="-all,$rights" $command $arguments &
agent=$!

page() {
    perl -MIO::Socket::INET -e '
        my ($path, $token, $wanted) = @ARGV;
        for (1 .. 600) {
            my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:9410");
            if (!$s) { select(undef, undef, undef, 0.1); next }
            print $s "GET $path HTTP/1.0\r\nHost: localhost\r\n$token\r\n";
            exit(join("", <$s>) =~ /$wanted/ ? 0 : 1);
        }
        exit 1' "$@"
}
page /healthz "" "200 OK" || { echo "no answer"; exit 1; }
page /metrics "" " 401 " || { echo "served without a token"; exit 1; }
page /metrics "Authorization: Bearer $(cat /etc/brim-token/token)
" brim_cpu_ || { echo "no metrics"; exit 1; }
[ "$(stat -c %U "/proc/$agent")" = brim-agent ]
[ "$(stat -c %U /var/lib/brim/agent/agent.db)" = brim-agent ]
kill "$agent"
wait "$agent"
echo "container: the agent runs as brim-agent, asks for its token, and ended with status 0"
