/* Quantities as people read them: two or three digits and a unit; "?" for NaN. */
#ifndef BRIM_MODEL_SIGNAL_QUANTITY_H
#define BRIM_MODEL_SIGNAL_QUANTITY_H

/* Returned by value, so that several stand in the arguments of one printf(). */
struct quantity {
    char text[24];
};

struct quantity quantity_bytes(double bytes);     /* "412 MB", "3.4 GB": powers of 1000 */
struct quantity quantity_rate(double bytes);      /* "412 MB/s" */
struct quantity quantity_seconds(double seconds); /* "84 ms"; "0 s" */
/* Seconds as people read long times: "47 s", "3.50 min", "12.4 h", "5.21 d", "for ever". */
struct quantity quantity_span(double seconds);

struct quantity quantity_share(double share); /* "98 %" of 0.98 */
struct quantity quantity_count(double count); /* "12", "3.4", "120k" */

/* A number with so many digits that count, as %g writes it but never as "1e+06": "3.42", "0.081",
 * "1234567". */
struct quantity quantity_number(double value, int digits);

#endif
