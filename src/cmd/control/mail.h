/* Letters to owners of jobs, by a command of the site that takes them as mail(1) does:
 * COMMAND -s SUBJECT USER, the text on its standard input. */
#ifndef BRIM_CMD_CONTROL_MAIL_H
#define BRIM_CMD_CONTROL_MAIL_H
#include <stdbool.h>
#include <stdint.h>

/* Whether a user's name can stand in such a command: it is a plain word. */
bool mail_is_name(const char *user);

/* Have it sent, by a process of its own that has half a minute; nobody waits for it. False: no
 * process could be made, or the name is none. */
bool mail_send(const char *command, const char *user, uint32_t job, const char *text);

#endif
