/* The stage "network": interfaces and InfiniBand ports against what their links carry. */
#include <string.h>

#include "diagnose/node/live_private.h"
#include "model/signal/quantity.h"

enum { NET_LINK = 1, NET_DROPS };
enum { LINK_RATE, LINK_SPEED, LINK_SENDS };

/* Packets that came to nothing make others wait: they are sent again. Those of an interface that
 * hardly does anything are no matter. */
static double lost_share(const struct live_net *n)
{
    const double enough = 1000; /* packets a second */
    double lost = (isnan(n->errors) ? 0 : n->errors) + (isnan(n->drops) ? 0 : n->drops);

    return n->packets >= enough ? lost / n->packets : 0;
}

static void measure_network(const struct live_view *v, struct live_measure *m)
{
    double sum = 0;
    bool known = false;

    for (size_t i = 0; i < v->l->n_nets; i++) {
        const struct live_net *n = &v->l->nets[i];
        double most = n->tx > n->rx || isnan(n->rx) ? n->tx : n->rx;
        double load = live_near(most / n->speed, live_limits.link_share);
        double drops = lost_share(n);

        known |= !isnan(most);
        sum += isnan(most) ? 0 : most;
        if (load > m->load) {
            *m = (struct live_measure){ .cause = NET_LINK,
                                        .load = load,
                                        .figures = { most, n->speed, most == n->tx },
                                        .thing = n->device };
        }
        if (drops > live_limits.drops && m->load < live_limits.load_busy) {
            *m = (struct live_measure){ .cause = NET_DROPS,
                                        .load = MAX(m->load, live_limits.load_busy),
                                        .figures = { drops },
                                        .thing = n->device };
        }
    }
    m->idle = known && sum < 1e5; /* some talk is always there */
}

static void describe_network(const struct live_view *v, struct live_stage *s)
{
    const double *f = s->figures;
    double rx = 0, tx = 0;
    bool known = false;

    for (size_t i = 0; i < v->l->n_nets; i++) {
        const struct live_net *n = &v->l->nets[i];

        known |= !isnan(n->rx + n->tx);
        rx += isnan(n->rx) ? 0 : n->rx;
        tx += isnan(n->tx) ? 0 : n->tx;
    }
    if (known)
        live_say(s->value, sizeof(s->value), "%s", quantity_rate(rx + tx).text);
    if (s->cause == NET_LINK)
        live_say(s->detail, sizeof(s->detail), "%s %s %s of %s", s->thing,
                 f[LINK_SENDS] > 0.5 ? "sends" : "receives", quantity_rate(f[LINK_RATE]).text,
                 quantity_rate(f[LINK_SPEED]).text);
    else if (s->cause == NET_DROPS)
        live_say(s->detail, sizeof(s->detail), "%s loses %.2f %% of its packets", s->thing,
                 f[0] * 100);
    else if (known)
        live_say(s->detail, sizeof(s->detail),
                 "%s received, %s sent; what the links can carry is not known",
                 quantity_rate(rx).text, quantity_rate(tx).text);
}

static void advise_network(const struct live_view *v, const struct live_stage *s, char *action)
{
    const struct live_process *p = &v->most[LIVE_BY_IO];
    double moves = p->io_read + p->io_written;

    if (p->pid && s->cause == NET_LINK && moves >= live_limits.named * s->figures[LINK_RATE])
        live_say(action, LIVE_TEXT, "look at what uses %s: ss -tip; %s moves %s", s->thing,
                 live_process_name(p).text, quantity_rate(moves).text);
    else
        live_say(action, LIVE_TEXT, "look at what uses %s: ss -tip", s->thing);
}

const struct live_stage_ops live_network = { "the network limits this node", measure_network,
                                             describe_network, advise_network };
