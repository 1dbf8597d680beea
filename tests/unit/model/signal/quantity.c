#include "model/signal/quantity.h"

#include <math.h>

#include "tap.h"

int main(void)
{
    is_str(quantity_bytes(0).text, "0 B", "none");
    is_str(quantity_bytes(999.4).text, "999 B", "bytes");
    is_str(quantity_bytes(999.6).text, "1.0 kB", "rounded up into the next unit");
    is_str(quantity_rate(412e6).text, "412 MB/s", "a rate");
    is_str(quantity_bytes(9.949e9).text, "9.9 GB", "a decimal below 10");
    is_str(quantity_bytes(9.96e9).text, "10 GB", "none from there on");
    is_str(quantity_bytes(1e30).text, "1.0e+15 PB", "no unit is large enough");
    is_str(quantity_seconds(0.084).text, "84 ms", "seconds");
    is_str(quantity_seconds(90).text, "90 s", "the largest unit");
    is_str(quantity_share(0.984).text, "98 %", "a share");
    is_str(quantity_count(3).text, "3", "a whole number");
    is_str(quantity_count(3.44).text, "3.4", "a small one");
    is_str(quantity_count(120400).text, "120k", "a large one");
    is_str(quantity_count(-5e300).text, "-5.0e+291G", "a number of no meaning");
    is_str(quantity_bytes((double)NAN).text, "?", "not known");
    is_str(quantity_count((double)NAN).text, "?", "not known");
    is_str(quantity_rate((double)INFINITY).text, "?", "not finite");
    is_str(quantity_number(3.4249, 3).text, "3.42", "three digits count");
    is_str(quantity_number(0.08123, 3).text, "0.0812", "zeros behind the point do not count");
    is_str(quantity_number(700, 4).text, "700", "a whole number stays");
    is_str(quantity_number(1234.4, 3).text, "1234", "a number with more digits is whole");
    is_str(quantity_number(999.6, 3).text, "1000", "a number that is rounded up has no exponent");
    is_str(quantity_number(1234567, 3).text, "1234567", "a million has no exponent");
    is_str(quantity_number(-1234567, 3).text, "-1234567", "a million below 0 has no exponent");
    is_str(quantity_number(0.00001, 3).text, "0.000010000", "a small number has no exponent");
    is_str(quantity_number(0, 3).text, "0", "nothing is 0");
    is_str(quantity_number((double)NAN, 3).text, "?", "a number that is not known");
    return done();
}
