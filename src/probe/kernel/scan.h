/* Readers for the texts of /proc. */
#ifndef BRIM_PROBE_KERNEL_SCAN_H
#define BRIM_PROBE_KERNEL_SCAN_H

/* They move *at behind what they read. scan_number() passes blanks
 * and reads decimal digits (with a fraction, if there is one), NaN when there are none; scan_line()
 * goes to the start of the next line and returns 0 at the end of the text. */
void scan_blanks(const char **at);
double scan_number(const char **at);
int scan_line(const char **at);

/* True when the word at *at is exactly word; *at then stands behind it. */
int scan_word(const char **at, const char *word);

#endif
