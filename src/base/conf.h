/* brim.conf: options that a user or a site wants always. Section = command, key = long option. */
#ifndef BRIM_BASE_CONF_H
#define BRIM_BASE_CONF_H
#include "base/arena.h"
#include "base/opt.h"

/* Where brim.conf is: $BRIM_CONF, else $XDG_CONFIG_HOME/brim/brim.conf or
 * ~/.config/brim/brim.conf if that exists, else /etc/brim/brim.conf. Allocated in a; NULL when out
 * of memory. */
const char *conf_path(struct arena *a) CHECK_RESULT;

/* Where a program keeps what it learned, such as "agent.db": $STATE_DIRECTORY (systemd's), else
 * /var/lib/brim for root, else $XDG_STATE_HOME/brim or ~/.local/state/brim. Allocated in a; NULL
 * when out of memory. */
const char *conf_state(struct arena *a, const char *name) CHECK_RESULT;

/* Set the options of table from the section of the file at path. A file that does not exist is no
 * error; a bad key or value is ERR_USAGE, as "path:line: ...": they are options. Other sections are
 * not looked at. Strings live in a. */
int conf_load(struct arena *a, const char *path, const char *section, const struct opt *table,
              void *values, struct err *e) CHECK_RESULT;

/* The environment of this process, "NAME=value" texts that end with NULL: for those that hand it
 * on to another one. */
char *const *conf_environment(void);

/* Take another one, which is borrowed: in a child that is about to execute a program, whose name is
 * then looked for in that PATH. */
void conf_set_environment(char **env);

/* Whether what is written to the file descriptor should have colours: it is a terminal, and
 * neither NO_COLOR nor TERM=dumb asks for none. */
bool conf_colour(int fd);

/* Whether the file descriptor is the journal of systemd: the one that JOURNAL_STREAM names, which
 * is inherited also by those whose stderr goes elsewhere (sd-daemon(3)). */
bool conf_journal(int fd);

/* Whether the user's terminal shows UTF-8: what LC_ALL, else LC_CTYPE, else LANG says. */
bool conf_utf8(void);

#endif
