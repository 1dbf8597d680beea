#include "plan/measured/rows_network.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"

/* What a rate belongs to. */
enum scope { SCOPE_NONE, SCOPE_NODE, SCOPE_GPU, SCOPE_PORT };

struct word {
    const char *text;
    double value; /* Gbit/s of a port, or of a unit */
};

/* Rates of a port: InfiniBand as the trade association lists them, Omni-Path 100, Slingshot 10 and
 * 11, NVIDIA's cards. Longer names come before their beginnings. */
static const struct word generations[] = {
    { "HDR-100", 100 },      { "HDR100", 100 },       { "HDR200", 200 },
    { "HDR", 200 },          { "NDR-200", 200 },      { "NDR200", 200 },
    { "NDR400", 400 },       { "NDR", 400 },          { "XDR", 800 },
    { "EDR", 100 },          { "FDR", 56 },           { "QDR", 40 },
    { "OPA-100", 100 },      { "OPA100", 100 },       { "OPA", 100 },
    { "Omni-Path", 100 },    { "OmniPath", 100 },     { "Omni Path", 100 },
    { "Slingshot-10", 100 }, { "Slingshot 10", 100 }, { "Slingshot-11", 200 },
    { "Slingshot 11", 200 }, { "Slingshot", 200 },    { "ConnectX-5", 100 },
    { "ConnectX-6", 200 },   { "ConnectX-7", 400 },   { "ConnectX-8", 800 },
    { "CX-7", 400 },         { "CX7", 400 },          { "CX-6", 200 },
    { "CX6", 200 },
};

static const struct word units[] = {
    { "Gbit/s", 1 }, { "Gbits/s", 1 }, { "Gbps", 1 },     { "Gb/s", 1 },
    { "Gb/sec", 1 }, { "GbE", 1 },     { "Tbit/s", 1e3 }, { "Tbps", 1e3 },
    { "Tb/s", 1e3 }, { "GB/s", 8 },    { "GBps", 8 },
};

/* Words of a network that state no rate. */
static const char *const bare[] = { "InfiniBand", "Infiniband", "IB",       "RoCE",
                                    "RoCEv2",     "EFA",        "Ethernet", "interconnect",
                                    "fabric",     "NIC",        "NICs",     "HCA",
                                    "HCAs",       "TCPX",       "TCPXO",    "cross-node" };

/* Beginnings of words beside which a rate is none of the network between nodes. */
static const char *const inside[] = { "NVL",     "NVSwitch", "HBM",    "memory", "PCIe",
                                      "storage", "disk",     "Lustre", "xGMI" };

static bool is_alnum(char c)
{
    return isalnum((unsigned char)c) != 0;
}

/* Whether the word stands at 'at' with an end behind it; case counts where it is all capitals. */
static bool stands(const char *at, const char *word)
{
    size_t n = strlen(word);
    bool capitals = true;

    for (const char *c = word; *c; c++)
        capitals = capitals && !islower((unsigned char)*c);
    return (capitals ? strncmp(at, word, n) : strncasecmp(at, word, n)) == 0 && !is_alnum(at[n]);
}

static const struct word *find_word(const struct word *words, size_t n, const char *at)
{
    for (size_t i = 0; i < n; i++)
        if (stands(at, words[i].text))
            return &words[i];
    return NULL;
}

/* A unit: the case of its 'b' tells bits from bytes. */
static const struct word *find_unit(const char *at)
{
    for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
        size_t n = strlen(units[i].text);

        if (strncasecmp(at, units[i].text, n) == 0 && at[1] == units[i].text[1] && !is_alnum(at[n]))
            return &units[i];
    }
    return NULL;
}

static const char *skip(const char *at)
{
    return at + strspn(at, " ");
}

/* The end of the clause that 'at' lies in. */
static const char *clause_end(const char *at)
{
    return at + strcspn(at, ",;()[]");
}

/* "1,600" or "1.6" at *at, which moves behind it; 0: none. */
static double read_number(const char **at)
{
    const char *c = *at;
    double x = 0, unit = 1;

    for (; isdigit((unsigned char)*c); c++) {
        x = 10 * x + (*c - '0');
        if (c[1] == ',' && x < 1e3 && isdigit((unsigned char)c[2]) &&
            isdigit((unsigned char)c[3]) && isdigit((unsigned char)c[4]) && !is_alnum(c[5]))
            c++;
    }
    if (*c == '.' && isdigit((unsigned char)c[1]))
        for (c++; isdigit((unsigned char)*c); c++)
            x += (*c - '0') * (unit /= 10);
    *at = c;
    return x < 1e6 ? x : 0;
}

/* The end of a word for ports at 'at'; NULL: it is another one. */
static const char *port_word(const char *at)
{
    static const char *const words[] = { "NICs",     "ports",   "HCAs", "rails", "links",
                                         "adapters", "NIC",     "port", "HCA",   "rail",
                                         "link",     "adapter", "cards" };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (stands(at, words[i]))
            return at + strlen(words[i]);
    return NULL;
}

/* Behind a number: "x", "NICs of", "ports at"; moves *at behind it. */
static bool read_count(const char **at)
{
    static const char *const of[] = { "of", "at", "with", "@", "x" };
    const char *c = skip(*at), *port = port_word(c);

    if ((*c == 'x' || *c == 'X' || *c == '*') &&
        (!isalpha((unsigned char)*skip(c + 1)) ||
         find_word(generations, ARRAY_SIZE(generations), skip(c + 1)))) {
        *at = skip(c + 1);
        return true;
    }
    for (size_t i = 0; port && i < ARRAY_SIZE(of); i++)
        if (stands(skip(port), of[i])) {
            *at = skip(skip(port) + strlen(of[i]));
            return true;
        }
    return false;
}

/* "4x", "8 NICs of", "2 HDR", and with nouns "4 NICs": a number of ports at *at, which moves behind
 * it; 0: none. */
static double count_here(const char **at, bool nouns)
{
    const char *c = *at;
    double n = isdigit((unsigned char)*c) ? read_number(&c) : 0;

    if (!(n >= 1 && n <= 64) || n > (int)n)
        return 0;
    if (!read_count(&c) && !find_word(generations, ARRAY_SIZE(generations), skip(c))) {
        const char *port = nouns ? port_word(skip(c)) : NULL;

        if (!port)
            return 0;
        c = port;
    }
    *at = skip(c);
    return n;
}

/* "x 8" behind a rate; 0: none. */
static double count_behind(const char *at)
{
    const char *x = skip(at);
    double n;

    if (*x != 'x' && *x != 'X')
        return 0;
    x = skip(x + 1);
    n = read_number(&x);
    return n >= 1 && n <= 64 && !is_alnum(*x) ? n : 0;
}

/* A rate in Gbit/s at *at, which moves behind it; 0: none. Behind a count, "Gb" and "G" are units
 * too, where the number is that of a port. *bytes: it is stated in bytes, as rates inside of a node
 * mostly are. */
static double read_rate(const char **at, bool counted, bool *bytes)
{
    static const double of_ports[] = { 10, 25, 50, 56, 100, 200, 400, 800 };
    const char *c = *at;
    double x = read_number(&c);
    const struct word *unit;

    c += strspn(c, " -");
    unit = x > 0 ? find_unit(c) : NULL;
    *bytes = unit && unit->value == 8;
    if (unit) {
        *at = c + strlen(unit->text);
        return x * unit->value;
    }
    for (size_t i = 0; counted && i < ARRAY_SIZE(of_ports); i++)
        if (x == of_ports[i] && *c == 'G' && !is_alnum(c[1 + (c[1] == 'b')])) {
            *at = c + 1 + (c[1] == 'b');
            return x;
        }
    return 0;
}

/* Behind "per ", "/", "a " or "each " at 'at': what a rate belongs to. */
static enum scope scope_at(const char *at)
{
    static const char *const before[] = { "per ", "per-", "/", "a ", "each " };
    static const struct {
        const char *word;
        enum scope scope;
    } words[] = { { "node", SCOPE_NODE },    { "server", SCOPE_NODE },     { "host", SCOPE_NODE },
                  { "machine", SCOPE_NODE }, { "GPU", SCOPE_GPU },         { "device", SCOPE_GPU },
                  { "rank", SCOPE_GPU },     { "accelerator", SCOPE_GPU }, { "NIC", SCOPE_PORT },
                  { "HCA", SCOPE_PORT },     { "port", SCOPE_PORT },       { "rail", SCOPE_PORT },
                  { "link", SCOPE_PORT },    { "adapter", SCOPE_PORT } };

    for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
        size_t n = strlen(before[i]);

        if (strncasecmp(at, before[i], n) != 0)
            continue;
        for (size_t j = 0; j < ARRAY_SIZE(words); j++)
            if (stands(skip(at + n), words[j].word))
                return words[j].scope;
    }
    return SCOPE_NONE;
}

static enum scope scope_of(const char *from, const char *end)
{
    enum scope found = SCOPE_NONE;

    for (const char *c = from; c < end && found == SCOPE_NONE; c++)
        if (c == from || !isalpha((unsigned char)*c) || !is_alnum(c[-1])) {
            found = scope_at(c);
            /* "per port and GPU" */
            if (found == SCOPE_PORT && strcasestr(c, "and GPU") && strcasestr(c, "and GPU") < end)
                found = SCOPE_GPU;
        }
    return found;
}

static bool clause_has(const char *from, const char *end, const char *const *words, size_t n)
{
    for (const char *c = from; c < end; c++)
        for (size_t i = 0; i < n; i++)
            if ((c == from || !is_alnum(c[-1])) && strncasecmp(c, words[i], strlen(words[i])) == 0)
                return true;
    return false;
}

/* A generation's name behind 'from'; NULL: the clause has none. */
static const struct word *clause_generation(const char *from, const char *end)
{
    const struct word *w;

    for (const char *c = from; c < end; c++)
        if (c == from || !is_alnum(c[-1])) {
            w = find_word(generations, ARRAY_SIZE(generations), c);
            if (w)
                return w;
        }
    return NULL;
}

/* Where the clause of 'at' begins. */
static const char *clause_begin(const char *text, const char *at)
{
    while (at > text && !strchr(",;()[]", at[-1]))
        at--;
    return at;
}

static void keep_phrase(struct row_network *ret, const char *from, const char *end)
{
    size_t n = (size_t)(end - from), most = sizeof(ret->phrase) - 1;

    while (n > 0 && from[n - 1] == ' ')
        n--;
    snprintf(ret->phrase, sizeof(ret->phrase), "%.*s", (int)MIN(n, most), from);
}

static int ports_of(const struct row_node *node, const struct word *gen)
{
    /* Jean Zay, where most runs over Omni-Path were measured, has a port of it for two GPUs. */
    if (gen && (gen->text[0] == 'O' || gen->text[0] == 'o'))
        return (node->gpus + 1) / 2;
    return node->ports > 0 ? node->ports : node->gpus;
}

/* What a phrase that states a rate, a generation or both is worth, in Gbit/s of a node. */
static double worth(double count, double rate, const struct word *gen, enum scope scope,
                    const struct row_node *node, bool *assumed)
{
    double port = rate > 0 ? rate : gen ? gen->value : 0;
    bool of_port = !(rate > 0) || (gen && rate == gen->value) || scope == SCOPE_PORT;

    if (scope == SCOPE_GPU)
        return port * node->gpus;
    if (count > 0)
        return count * port;
    if (scope == SCOPE_NODE || !of_port)
        return port;
    *assumed = true;
    return port * ports_of(node, gen);
}

/* A phrase that begins at 'at' with a number or a generation: how long it is, 0: there is none. */
static size_t read_phrase(const char *text, const char *at, const struct row_node *node,
                          struct row_network *ret)
{
    const char *c = at, *end, *begin = clause_begin(text, at);
    const struct word *gen;
    double count = count_here(&c, false), rate;
    bool bytes = false;

    gen = find_word(generations, ARRAY_SIZE(generations), c);
    if (!gen && !isdigit((unsigned char)*c))
        return 0;
    if (gen)
        c += strlen(gen->text);
    c += strspn(c, " -@(");
    if (gen && !(count > 0)) /* "HDR (4 NICs)", "Omni-Path 4x100Gb/s" */
        count = count_here(&c, true);
    rate = read_rate(&c, count > 0 || gen, &bytes);
    if (!gen && !(rate > 0))
        return 0;
    end = clause_end(c);
    if (!gen)
        gen = clause_generation(c, end);
    if (!(count > 0))
        count = count_behind(c);
    if (!gen && !clause_has(begin, end, bare, ARRAY_SIZE(bare)) &&
        (bytes || clause_has(begin, end, inside, ARRAY_SIZE(inside))))
        return 0;
    ret->ports_assumed = false;
    ret->rate = worth(count, rate, gen, scope_of(c, end), node, &ret->ports_assumed) * 1e9 / 8;
    keep_phrase(ret, at, end);
    return (size_t)(c - at);
}

/* Amazon's nodes have a rate of EFA that their kind of GPU says (aws.amazon.com/ec2/instance-types:
 * p4d 400 Gbit/s with eight A100, p5 and p6-b200 3,200). */
static bool read_efa(const char *at, const struct row_node *node, struct row_network *ret)
{
    if (!stands(at, "EFA") || node->gpus != 8 ||
        !(node->is_new || strncasecmp(node->gpu, "A100", 4) == 0))
        return false;
    ret->rate = (node->is_new ? 3200e9 : 400e9) / 8;
    ret->ports_assumed = true;
    keep_phrase(ret, at, at + 3);
    return true;
}

/* Where the text begins to speak of this kind of GPU, with a number behind its name. */
static const char *own_part(const char *text, const char *gpu)
{
    char family[32];
    size_t n = 0;

    while (is_alnum(gpu[n]) && n + 2 < sizeof(family)) {
        family[n] = gpu[n];
        n++;
    }
    family[n] = ' ';
    family[n + 1] = '\0';
    for (const char *at = strcasestr(text, family); n > 0 && at; at = strcasestr(at + 1, family))
        if (isdigit((unsigned char)at[n + 1]))
            return at + n + 1;
    return text;
}

static bool read_from(const char *text, const char *from, const struct row_node *node,
                      struct row_network *ret)
{
    struct row_network first = { .rate = 0 };
    size_t n;

    for (const char *at = from; *at; at += n ? n : 1) {
        bool begins = at == text || (!is_alnum(at[-1]) && !strchr(".$", at[-1]));

        n = begins ? read_phrase(text, at, node, ret) : 0;
        if (n && !ret->ports_assumed)
            return true;
        if (n && !(first.rate > 0))
            first = *ret;
    }
    *ret = first;
    if (ret->rate > 0)
        return true;
    for (const char *at = from; *at; at++)
        if ((at == text || !is_alnum(at[-1])) && read_efa(at, node, ret))
            return true;
    return false;
}

bool row_network_read(const char *text, const struct row_node *node, struct row_network *ret)
{
    const char *own = own_part(text, node->gpu);

    *ret = (struct row_network){ .rate = 0 };
    if (read_from(text, own, node, ret) || (own != text && read_from(text, text, node, ret)))
        return true;
    ret->rate = 0;
    ret->ports_assumed = false;
    for (const char *at = text; *at; at++)
        for (size_t i = 0; i < ARRAY_SIZE(bare); i++)
            if ((at == text || !is_alnum(at[-1])) && stands(at, bare[i])) {
                keep_phrase(ret, clause_begin(text, at) + strspn(clause_begin(text, at), " "),
                            clause_end(at));
                return true;
            }
    return false;
}
