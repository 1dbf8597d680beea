/* Small steps that sources share: one value of one file of a directory of the tree. */
#ifndef BRIM_PROBE_SOURCE_FACT_H
#define BRIM_PROBE_SOURCE_FACT_H
#include "probe/source/source.h"

/* Write "dir/file" into buf; -ENAMETOOLONG when it does not fit. */
int fact_path(char buf[TREE_PATH], const char *dir, const char *file) CHECK_RESULT;

/* The one-line text of dir/file, in the node's arena; *to is left alone when there is none. 0, or
 * -ENOMEM. */
int fact_text(struct probe *p, struct node *n, const char *dir, const char *file, const char **to)
    CHECK_RESULT;

/* The number in dir/file, ABSENT when there is none. */
long long fact_number(struct probe *p, const char *dir, const char *file);

/* The entries of a directory, one per line; none when there are none or it cannot be read. 0, or
 * -ENOMEM. */
int fact_list(struct probe *p, const char *dir, struct str *out) CHECK_RESULT;

/* The next line of a list, terminated in place; NULL at its end.
 *     for (char *at = list.data, *name; (name = fact_next(&at)) != NULL;) ... */
char *fact_next(char **at);

#endif
