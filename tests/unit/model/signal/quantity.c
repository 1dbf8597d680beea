#include "model/signal/quantity.h"

#include <math.h>

#include "tap.h"

int main(void)
{
    is_str(quantity_bytes(0).text, "0 B", "quantity_bytes of 0 is '0 B'");
    is_str(quantity_bytes(999.4).text, "999 B", "quantity_bytes below 999.5 is in bytes");
    is_str(quantity_bytes(999.6).text, "1.0 kB",
           "quantity_bytes rounds 999.6 up into the next unit");
    is_str(quantity_rate(412e6).text, "412 MB/s", "quantity_rate of 412e6 is in MB/s");
    is_str(quantity_bytes(9.949e9).text, "9.9 GB", "quantity_bytes below 10 has a decimal");
    is_str(quantity_bytes(9.96e9).text, "10 GB", "quantity_bytes from 10 on has no decimal");
    is_str(quantity_bytes(1e30).text, "1.0e+15 PB",
           "quantity_bytes of 1e30 is in the largest unit");
    is_str(quantity_seconds(0.084).text, "84 ms", "quantity_seconds of 0.084 is in ms");
    is_str(quantity_seconds(0).text, "0 s", "quantity_seconds of 0 is in seconds");
    is_str(quantity_seconds(0.4e-6).text, "0 s", "quantity_seconds of 0.4 us is none");
    is_str(quantity_seconds(0.6e-6).text, "1 us", "quantity_seconds of 0.6 us is one");
    is_str(quantity_seconds((double)NAN).text, "?", "quantity_seconds of an absent time is '?'");
    is_str(quantity_seconds(90).text, "90 s", "quantity_seconds of 90 is in the largest unit");
    is_str(quantity_span(119).text, "119 s", "quantity_span below two minutes is in seconds");
    is_str(quantity_span(120).text, "2.00 min", "quantity_span from two minutes on is in minutes");
    is_str(quantity_span(7199).text, "120 min", "quantity_span below two hours is in minutes");
    is_str(quantity_span(7200).text, "2.00 h", "quantity_span from two hours on is in hours");
    is_str(quantity_span(3 * 86400 - 1).text, "72.0 h",
           "quantity_span below three days is in hours");
    is_str(quantity_span(3 * 86400).text, "3.00 d", "quantity_span from three days on is in days");
    is_str(quantity_span((double)INFINITY).text, "for ever",
           "quantity_span without end is for ever");
    is_str(quantity_span((double)NAN).text, "?", "quantity_span of an absent time is '?'");
    is_str(quantity_span(599.6).text, "9.99 min", "quantity_span below 9.995 has two decimals");
    is_str(quantity_span(599.8).text, "10.0 min", "quantity_span of 9.997 has one decimal");
    is_str(quantity_span(99.94 * 86400).text, "99.9 d", "quantity_span below 99.95 has a decimal");
    is_str(quantity_span(99.96 * 86400).text, "100 d", "quantity_span from 99.95 on has none");
    is_str(quantity_number(999.4, 3).text, "999", "quantity_number below 999.5 has three digits");
    is_str(quantity_number(1e15 - 1, 3).text, "999999999999999",
           "quantity_number below 1e15 has all digits");
    is_str(quantity_number(1e15, 3).text, "1000000G", "quantity_number from 1e15 on has a unit");
    is_str(quantity_number(1.01e-4, 3).text, "0.000101", "quantity_number above 1e-4 has digits");
    is_str(quantity_number(-0.00001, 3).text, "-0.000010000",
           "a small number below 0 has no exponent");
    is_str(quantity_count(-3.44).text, "-3.4", "quantity_count of -3.44 has a decimal");
    is_str(quantity_count(9.96).text, "10", "quantity_count from 9.95 on has no decimal");
    is_str(quantity_bytes(999e15).text, "999 PB", "quantity_bytes has no unit beyond PB");
    is_str(quantity_bytes(9.6e23).text, "960000000 PB", "quantity_bytes below 1e9 PB is a number");
    is_str(quantity_share(0.984).text, "98 %", "quantity_share is in per cent");
    is_str(quantity_count(3).text, "3", "quantity_count of a whole number has no decimal");
    is_str(quantity_count(3.44).text, "3.4", "quantity_count of 3.44 has a decimal");
    is_str(quantity_count(120400).text, "120k", "quantity_count of 120,400 is in thousands");
    is_str(quantity_count(-5e300).text, "-5.0e+291G",
           "quantity_count of a number of no meaning is in the largest unit");
    is_str(quantity_bytes((double)NAN).text, "?", "quantity_bytes of NAN is '?'");
    is_str(quantity_count((double)NAN).text, "?", "quantity_count of NAN is '?'");
    is_str(quantity_rate((double)INFINITY).text, "?", "quantity_rate of INFINITY is '?'");
    is_str(quantity_number(3.4249, 3).text, "3.42", "quantity_number keeps three digits");
    is_str(quantity_number(0.08123, 3).text, "0.0812",
           "zeros behind the point do not count as digits");
    is_str(quantity_number(700, 4).text, "700", "a whole number below its digits stays");
    is_str(quantity_number(1234.4, 3).text, "1234", "a number with more digits is whole");
    is_str(quantity_number(999.6, 3).text, "1000", "a number that is rounded up has no exponent");
    is_str(quantity_number(1234567, 3).text, "1234567", "a million has no exponent");
    is_str(quantity_number(-1234567, 3).text, "-1234567", "a million below 0 has no exponent");
    is_str(quantity_number(0.00001, 3).text, "0.000010000", "a small number has no exponent");
    is_str(quantity_number(0, 3).text, "0", "quantity_number of 0 is '0'");
    is_str(quantity_number((double)NAN, 3).text, "?", "quantity_number of NAN is '?'");
    return done();
}
